/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Rows instead of pointers: the table needs no relocation, and the address of a text shows whether
 * it belongs to it.
 */
static const char phrases[][72] = {
	"",
	/* conditions of a ScaledObject: types, reasons, messages */
	"Ready",
	"Active",
	"Fallback",
	"Paused",
	"HPAActive",
	"ScaledObjectReady",
	"ScaledObjectCheckFailed",
	"TriggerError",
	"PartialTriggerError",
	"ScalerActive",
	"ScalerNotActive",
	"ScalerCooldown",
	"NoFallbackFound",
	"FallbackExists",
	"ScaledObjectPaused",
	"ScaledObjectUnpaused",
	"ScalingDisabled",
	"UnknownState",
	"ScaledObject is defined correctly and is ready for scaling",
	"Triggers defined in ScaledObject are not working correctly",
	"Some triggers defined in ScaledObject are not working correctly",
	"Scaling is performed because triggers are active",
	"Scaling is not performed because triggers are not active",
	"Scaler cooling down because triggers are not active",
	"No fallbacks are active on this scaled object",
	"At least one trigger is falling back on this scaled object",
	"ScaledObject is paused",
	"pause annotation removed for ScaledObject",
	"HPA is actively scaling",
	/* conditions of a ScaledJob */
	"ScaledJobReady",
	"ScaledJobCheckFailed",
	"ScaledJobPaused",
	"ScaledJobUnpaused",
	"ScaledJob is defined correctly and is ready to scaling",
	"ScaledJob is defined correctly and is ready for scaling",
	"ScaledJob is paused, skipping reconcile loop",
	"ScaledJob is paused",
	"ScaledJob is unpaused",
	/* conditions of an HPA (kubernetes pkg/controller/podautoscaler/horizontal.go) */
	"True",
	"False",
	"Unknown",
	"ValidMetricFound",
	"SucceededGetScale",
	"SucceededRescale",
	"ReadyForNewScale",
	"ScaleDownStabilized",
	"DesiredWithinRange",
	"TooFewReplicas",
	"TooManyReplicas",
	"scaling is disabled since the replica count of the target is zero",
	"the desired replica count is less than the minimum replica count",
	"the desired replica count is more than the maximum replica count",
	/* targets and triggers */
	"apps",
	"v1",
	"Deployment",
	"deployments",
	"apps/v1.Deployment",
	"StatefulSet",
	"statefulsets",
	"apps/v1.StatefulSet",
	"redis",
	"cpu",
	"memory",
	"composite-metric",
};

/* NULL if the table has no such text. */
static const char *phrase_of(const char *text)
{
	for (size_t i = 0; i < MEM_COUNT(phrases); i++)
		if (phrases[i][0] == text[0] && strcmp(phrases[i], text) == 0)
			return phrases[i];
	return NULL;
}

static bool is_phrase(const char *text)
{
	return (uintptr_t)text - (uintptr_t)phrases < sizeof(phrases);
}

const char *intern_dup(const char *text)
{
	const char *phrase = text != NULL ? phrase_of(text) : NULL;

	return phrase != NULL ? phrase : mem_dup(text);
}

void intern_free(const char *text)
{
	if (!is_phrase(text))
		free((void *)(uintptr_t)text);
}

void intern_set(const char **slot, const char *text)
{
	const char *copy = intern_dup(text);

	intern_free(*slot);
	*slot = copy;
}

void intern_take(const char **slot, char *text)
{
	const char *phrase = text != NULL ? phrase_of(text) : NULL;

	intern_free(*slot);
	*slot = phrase != NULL ? phrase : text;
	if (phrase != NULL)
		free(text);
}

int intern_get(const struct json_at *at, const char *key, const char **out, struct err *err)
{
	char *text = NULL;

	if (json_get_string(at, key, &text, err) < 0)
		return -1;
	if (text != NULL)
		intern_take(out, text);
	return 0;
}
