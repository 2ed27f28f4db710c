/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_QUEUE_H
#define CONTROL_OBJECTS_QUEUE_H

/* The objects that wait to be reconciled, each once. */

struct work;
struct control;

void queue_mark(struct work *work);         /* reconcile it at the end of this turn */
struct work *queue_take(struct control *c); /* takes the next one; NULL: none */
void queue_remove(struct work *work);

#endif
