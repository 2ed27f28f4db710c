/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_RECORDER_H
#define CONTROL_OBJECTS_RECORDER_H

/* Events about a stored object, with KEDA's reasons and words. */

#include <stdbool.h>

struct work;

void recorder_event(struct work *work, const char *type, const char *reason, const char *note, ...)
	__attribute__((format(printf, 4, 5)));
/* the reason begins with the kind's name: "ScaledObject", then `what` */
void recorder_kind_event(struct work *work, const char *type, const char *what, const char *text);
void recorder_gone(struct work *work);
void recorder_started(struct work *work); /* polling starts */
/*
 * Also logged; only once while the text is the same. words: of another Event before it; NULL: none.
 */
void recorder_check_failed(struct work *work, const char *words, const char *text);
void recorder_check_passed(struct work *work); /* the next failure is reported again */
/* another HPA scales its target; reported once; NULL: none */
void recorder_rival(struct work *work, const char *text);
/* unknown keys in metadata, if any */
void recorder_unknown(struct work *work);
/* push was requested and is off: reported once per reason */
void recorder_push(struct work *work);
/* if the condition Fallback has changed */
void recorder_fallback(struct work *work, bool was);
/* The same for Paused and Ready; true if it became ready. */
bool recorder_turn(struct work *work, bool was_ready, bool was_paused);
void recorder_push_anew(struct work *work);   /* push may have changed: checks it again */
void recorder_forget_push(struct work *work); /* reports it once more */
void recorder_done(struct work *work);

#endif
