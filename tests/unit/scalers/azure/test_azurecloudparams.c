/* SPDX-License-Identifier: Apache-2.0 */
/* The Azure cloud of a trigger's service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/azure/azurecloudparams.h"

static void parameters(void **state)
{
	struct strmap metadata = { 0 };
	struct scaler_params params = { .type = "azure-queue", .metadata = &metadata };
	struct err err = { 0 };
	char *suffix;

	(void)state;
	assert_int_equal(azurecloudparams_read(&params, AZURECLOUD_QUEUE, &suffix, &err), 0);
	assert_string_equal(suffix, "queue.core.windows.net");
	mem_free_ptr(&suffix);
	strmap_set(&metadata, "cloud", "Private");
	assert_int_equal(azurecloudparams_read(&params, AZURECLOUD_QUEUE, &suffix, &err), -1);
	assert_string_equal(err.msg, "endpointSuffix must be provided for Private cloud type");
	strmap_set(&metadata, "endpointSuffix", " core.local ");
	assert_int_equal(azurecloudparams_read(&params, AZURECLOUD_QUEUE, &suffix, &err), 0);
	assert_string_equal(suffix, "core.local");
	mem_free_ptr(&suffix);
	strmap_done(&metadata);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parameters) };

	return cmocka_run_group_tests_name("scalers/azure/azurecloudparams", tests, NULL, NULL);
}
