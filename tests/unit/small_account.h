/* small_account.h - mechanisms and accountants over models of tests. Include it after cmocka.h. */
#ifndef TESTS_SMALL_ACCOUNT_H
#define TESTS_SMALL_ACCOUNT_H

#include "tem_account.h"

static inline tem_mechanism *mechanism_of(const tem_model *model, tem_mechanism_options options) {
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    return mechanism;
}

static inline tem_accountant *accountant_of(const tem_model *model,
                                            const uint32_t *output_weights) {
    tem_accountant *accountant = NULL;
    assert_int_equal(tem_accountant_create(model, output_weights, NULL, &accountant, NULL), TEM_OK);
    return accountant;
}

#endif
