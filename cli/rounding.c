/* rounding.c - the rounding of a model beside the distances of its words. */
#include "rounding.h"

#include "tem_account.h"

double rounding_percent(const tem_model *model, double *median) {
    tem_model_info info;
    tem_dist nearest = 0;
    tem_model_get_info(model, &info);
    if (tem_model_nearest_median(model, &nearest, NULL) != TEM_OK || nearest == 0)
        return 0;
    *median = (double)nearest / TEM_DIST_ONE;
    return tem_round_up(100.0 * info.deviation / nearest, 3);
}
