/* api_told.c - what an adapted model gives away: the last part of tem_adapt.h. */
#include "api/learn_checks.h"
#include "audit/unadapted.h"
#include "core/status.h"
#include "learn/told.h"

tem_status tem_channel_told(const tem_channel *channel, const tem_expectation *expected,
                            const double *numbers, uint32_t columns, const tem_run *run,
                            tem_told *told, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_expectation(expected, error));
    if (channel == NULL || numbers == NULL || told == NULL || columns == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a channel, a number or more of each word and a place for the results are "
                         "needed");
    if (columns > TOLD_COLUMNS_MAX || !all_finite(numbers, (uint64_t)channel->count * columns))
        return core_fail(error, TEM_ERR_ARGUMENT, "a number of a word is not finite");
    return told_numbers(channel, expected, numbers, columns, run, told, error);
}

tem_status tem_accountant_unadapted(const tem_accountant *accountant,
                                    const tem_mechanism *mechanism, const tem_run *run,
                                    tem_unadapted *unadapted, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (accountant == NULL || mechanism == NULL || unadapted == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism and a place for the result are needed");
    return accountant_unadapted(accountant, mechanism, run, unadapted, error);
}
