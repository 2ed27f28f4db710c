/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_QUESTIONS_H
#define CACHE_READINGS_QUESTIONS_H

/*
 * Shares questions: one per key, however many triggers have it. A trigger builds a new question
 * after each change of its object and then uses the shared one, so that reading, watch and
 * description are kept. A question lives as long as it has references; the table holds none.
 */

#include "scalers/scaler.h"

struct questions { /* a value; empty when zeroed; outlives its questions */
	struct question *all;
};

/*
 * Takes q and returns the shared question of its key, with a reference; its namespace_ becomes ""
 * when q's differs.
 */
struct question *questions_share(struct questions *t, struct question *q);

#endif
