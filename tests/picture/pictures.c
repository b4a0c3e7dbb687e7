/* pictures.c - draws samples of every picture, ordinary and hostile ones, for tests/check-picture.
 *
 *     pictures DIRECTORY      writes DIRECTORY/NAME.svg for each sample, and DIRECTORY/style.css
 *
 * Developers look at the same files. */
#include "tem_picture.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(text) .word = (text), .bytes = sizeof(text) - 1
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char hostile[] = "</text></svg><script>alert('1')</script>&\"\x01\xff\xe2\x80\xae";
static const char *directory;

static void save(const char *name, tem_status status, char *svg, size_t bytes,
                 const tem_error *error) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = status == TEM_OK ? fopen(path, "w") : NULL;
    if (file == NULL || fwrite(svg, 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "%s: %s\n", name, status == TEM_OK ? "cannot write" : error->message);
        exit(1);
    }
    tem_text_free(svg);
}

static void law(const char *name, const tem_picture_law *picture) {
    char *svg = NULL;
    size_t bytes = 0;
    tem_error error;
    const tem_status status = tem_picture_draw_law(picture, &svg, &bytes, &error);
    save(name, status, svg, bytes, &error);
}

static void curve(const char *name, const tem_picture_curve *picture) {
    char *svg = NULL;
    size_t bytes = 0;
    tem_error error;
    const tem_status status = tem_picture_draw_curve(picture, &svg, &bytes, &error);
    save(name, status, svg, bytes, &error);
}

static void spread(const char *name, const tem_picture_spread *picture) {
    char *svg = NULL;
    size_t bytes = 0;
    tem_error error;
    const tem_status status = tem_picture_draw_spread(picture, &svg, &bytes, &error);
    save(name, status, svg, bytes, &error);
}

static void map(const char *name, const tem_picture_map *picture) {
    char *svg = NULL;
    size_t bytes = 0;
    tem_error error;
    const tem_status status = tem_picture_draw_map(picture, &svg, &bytes, &error);
    save(name, status, svg, bytes, &error);
}

static void draw_laws(void) {
    const tem_picture_bar bars[] = {{WORD("movie"), .probability = 0.423, .is_marked = 1},
                                    {WORD("film"), .probability = 0.18},
                                    {WORD("movies"), .probability = 0.09},
                                    {WORD("films"), .probability = 0.031},
                                    {WORD("comedy"), .probability = 0.0123},
                                    {WORD("blockbuster"), .probability = 0.0041},
                                    {WORD("cinema"), .probability = 0.00005}};
    law("law.svg", &(tem_picture_law){.frame = {.title = "What becomes of movie"},
                                      .bars = bars,
                                      .bar_count = COUNT(bars),
                                      .other_words = 33853,
                                      .other_probability = 0.259});
    const tem_picture_bar odd[] = {
        {WORD(hostile), .probability = 0.5, .is_marked = 1},
        {WORD("antidisestablishmentarianism-and-more-of-it"), .probability = 0.2},
        {WORD("שלום"), .probability = 0.1},
        {WORD("日本語"), .probability = 0.1},
        {NULL, 0, 0, 0, {0}}};
    law("law-hostile.svg",
        &(tem_picture_law){.frame = {.title = hostile, .description = hostile, .width = 240},
                           .bars = odd,
                           .bar_count = COUNT(odd),
                           .other_words = 1,
                           .other_probability = 1});
    law("law-zero.svg",
        &(tem_picture_law){.frame = {.title = "No probability"}, .bars = odd + 4, .bar_count = 1});
}

static void draw_curves(void) {
    const double epsilons[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16};
    const double guess[] = {0.066, 0.07, 0.081, 0.1, 0.127, 0.16, 0.27, 0.42, 0.6, 0.88};
    const double accuracy[] = {0.52, 0.55, 0.6, 0.66, 0.71, 0.75, 0.8, 0.83, 0.85, 0.86};
    const double gaps[] = {NAN, 0.1, NAN, 0.2, 0.3, NAN, 0, 1, NAN, 0.5};
    const tem_picture_series two[] = {{"best guess is right", guess, {0}},
                                      {"accuracy of a classifier", accuracy, {0}}};
    curve("curve.svg",
          &(tem_picture_curve){.frame = {.title = "What an attacker guesses, by epsilon"},
                               .epsilons = epsilons,
                               .count = COUNT(epsilons),
                               .series = two,
                               .series_count = 2,
                               .chosen = 7});
    curve("curve-linear.svg", &(tem_picture_curve){.frame = {.title = "A wide one", .width = 640},
                                                   .epsilons = epsilons + 2,
                                                   .count = 5,
                                                   .series = two,
                                                   .series_count = 1,
                                                   .chosen = 8});
    const tem_picture_series odd[] = {
        {hostile, gaps, {0}},
        {"", guess, {0}},
        {"third", accuracy, {0}},
        {"a name that is far too long for so narrow a picture", gaps, {0}}};
    curve("curve-hostile.svg", &(tem_picture_curve){.frame = {.title = hostile, .width = 240},
                                                    .epsilons = epsilons,
                                                    .count = COUNT(epsilons),
                                                    .series = odd,
                                                    .series_count = 4,
                                                    .chosen = 1e9});
    curve("curve-one.svg", &(tem_picture_curve){.frame = {.title = "One point"},
                                                .epsilons = epsilons,
                                                .count = 1,
                                                .series = two,
                                                .series_count = 2,
                                                .chosen = 1});
}

static void draw_spreads(void) {
    static double values[33860];
    for (size_t i = 0; i < COUNT(values); i++) {
        const double at = (double)i / (COUNT(values) - 1);
        values[i] = 0.02 + 0.35 * at * at + 0.6 * pow(at, 40);
    }
    const tem_picture_mark marks[] = {{"median word", 0.5, {0}},
                                      {"95 of 100 words: at most", 0.95, {0}},
                                      {"most exposed word", 1, {0}}};
    spread("spread.svg",
           &(tem_picture_spread){.frame = {.title = "How often words stay themselves"},
                                 .values = values,
                                 .count = COUNT(values),
                                 .marks = marks,
                                 .mark_count = COUNT(marks)});
    const tem_picture_mark odd[] = {{hostile, 0, {0}}, {"", 1, {0}}};
    spread("spread-hostile.svg", &(tem_picture_spread){.frame = {.title = hostile, .width = 240},
                                                       .values = values,
                                                       .count = 1,
                                                       .marks = odd,
                                                       .mark_count = COUNT(odd),
                                                       .x_name = hostile,
                                                       .y_name = hostile});
}

static void draw_maps(void) {
    enum { POINTS = 40 };
    static const char *const words[] = {
        "movie", "film",   "movies", "films", "comedy",   "cinema", "sequel", "trailer",
        "scene", "horror", "actor",  "plot",  "thriller", "remake", "flick",  "director"};
    tem_picture_point points[POINTS] = {{0}};
    for (int i = 0; i < POINTS; i++) {
        const char *word = words[(size_t)i % COUNT(words)];
        const double angle = 2.4 * i, radius = sqrt(i);
        points[i] = (tem_picture_point){.word = word,
                                        .bytes = strlen(word),
                                        .x = radius * cos(angle),
                                        .y = radius * sin(angle),
                                        .probability = i == 0 ? 0.42 : 0.2 / (i + 1),
                                        .is_marked = i == 0};
    }
    map("map.svg", &(tem_picture_map){.frame = {.title = "Words near movie"},
                                      .points = points,
                                      .point_count = 24});
    map("map-crowded.svg", &(tem_picture_map){.frame = {.title = "Crowded", .width = 240},
                                              .points = points,
                                              .point_count = POINTS});
    const tem_picture_point odd[] = {{WORD(hostile), .x = -1.7e308, .y = 1.7e308},
                                     {WORD("x"), .x = 1.7e308, .y = -1.7e308, .probability = 1},
                                     {NULL, 0, 0, 0, 0, 0, {0}}};
    map("map-hostile.svg",
        &(tem_picture_map){.frame = {.title = hostile}, .points = odd, .point_count = COUNT(odd)});
    map("map-one.svg",
        &(tem_picture_map){.frame = {.title = "One word"}, .points = points + 3, .point_count = 1});
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: pictures DIRECTORY\n", stderr);
        return 2;
    }
    setlocale(LC_ALL, "");
    directory = argv[1];
    draw_laws();
    draw_curves();
    draw_spreads();
    draw_maps();
    char path[4096];
    snprintf(path, sizeof path, "%s/style.css", directory);
    FILE *file = fopen(path, "w");
    return file == NULL || fputs(tem_picture_style(), file) < 0 || fclose(file) != 0;
}
