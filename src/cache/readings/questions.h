/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_QUESTIONS_H
#define CACHE_READINGS_QUESTIONS_H

/*
 * One question under each key, however many triggers ask it: a trigger builds its question anew
 * with each change of its object, and takes the one that is asked already. So what is known of a
 * question (its reading, whether it is watched, which metrics it has) stands with it. A question
 * lives as long as somebody counts it; the table only knows it.
 */

#include "scalers/scaler.h"

struct questions { /* a value; zero is empty; outlives its questions */
	struct question *all;
};

/*
 * Takes q and gives the one under its key, counted; its namespace_ becomes "" when q is of another.
 */
struct question *questions_share(struct questions *t, struct question *q);

#endif
