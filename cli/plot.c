/* plot.c - plots of curves and bars, drawn by gnuplot.
 *
 * gnuplot runs as a process of its own. It reads its script, which contains the data, from a file
 * in memory, and writes the picture to its standard output, which is another file in memory. So
 * neither a shell nor gnuplot sees the name of a file, no disk can be full while gnuplot draws, and
 * a failure leaves no file behind. */
#include "plot.h"

#include "gnuplot.h"
#include "outputs.h"
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whether gnuplot runs, tried with an empty script. */
static bool has_gnuplot(void) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const bool found = nothing >= 0 && gnuplot_run("-", NULL, (const int[]){nothing, nothing, -1});
    if (nothing >= 0)
        close(nothing);
    return found;
}

int plot_check(const char *command, const char *path, bool force) {
    if (!outputs_ends_in(path, ".svg") && !outputs_ends_in(path, ".png"))
        return talk_usage(command, "--plot takes a file that ends in .svg or .png");
    if (!outputs_check(path, force))
        return EXIT_FAILED;
    if (has_gnuplot())
        return EXIT_DONE;
    fputs("tem: --plot needs gnuplot, which is not installed\n"
          "Run: sudo apt-get install gnuplot-nox\n",
          stderr);
    return EXIT_FAILED;
}

/* Within single quotes gnuplot changes nothing; a quote is written twice. */
static void put_quoted(FILE *script, const char *text) {
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', script);
        if ((unsigned char)*text >= ' ')
            fputc(*text, script);
    }
    fputc('\'', script);
}

static void put_setting(FILE *script, const char *setting, const char *text) {
    fprintf(script, "set %s ", setting);
    put_quoted(script, text);
    fputc('\n', script);
}

static void put_data(FILE *script, const plot *p) {
    for (size_t i = 0; i < p->curve_count; i++) {
        fprintf(script, "$curve%zu << END\n", i);
        for (size_t k = 0; k < p->curves[i].count; k++)
            if (isfinite(p->curves[i].x[k]) && isfinite(p->curves[i].y[k]))
                fprintf(script, "%.17g %.17g\n", p->curves[i].x[k], p->curves[i].y[k]);
        fputs("END\n", script);
    }
}

/* Marks are arrows without a head. Their labels are outside the axes, where no curve is. */
static void put_marks(FILE *script, const plot *p) {
    for (size_t i = 0; i < p->mark_count; i++) {
        const plot_mark *m = &p->marks[i];
        fprintf(script,
                m->vertical ? "set arrow from first %.17g,graph 0 to first %.17g,graph 1"
                            : "set arrow from graph 0,first %.17g to graph 1,first %.17g",
                m->at, m->at);
        fputs(" nohead dashtype 2 linewidth 1.5 linecolor rgb '#606060'\nset label ", script);
        put_quoted(script, m->label);
        fprintf(script,
                m->vertical ? " at first %.17g,graph 1.03 center"
                            : " at graph 1.01,first %.17g left",
                m->at);
        fputs(" textcolor rgb '#404040'\n", script);
    }
}

/* The least and the largest x of all curves, and the largest y of the curves and marks on the left
 * axis. */
typedef struct plot_range {
    double x_least, x_most, y_most;
} plot_range;

static plot_range range_of(const plot *p) {
    plot_range r = {INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < p->curve_count; i++) {
        const plot_curve *c = &p->curves[i];
        for (size_t k = 0; k < c->count; k++) {
            r.x_least = fmin(r.x_least, c->x[k]);
            r.x_most = fmax(r.x_most, c->x[k]);
            r.y_most = c->right ? r.y_most : fmax(r.y_most, c->y[k]);
        }
    }
    for (size_t i = 0; i < p->mark_count; i++)
        if (!p->marks[i].vertical)
            r.y_most = fmax(r.y_most, p->marks[i].at);
    return r;
}

/* Puts tics at 1, 2 and 5 of every decade: gnuplot's own are too few within one decade. */
static void put_log_axis(FILE *script, const plot_range *r) {
    const char *separator = "";
    fprintf(script, "set logscale x\nset xrange [%.17g:%.17g]\nset xtics (", r->x_least * 0.95,
            r->x_most * 1.05);
    for (double decade = pow(10, floor(log10(r->x_least))); decade <= r->x_most; decade *= 10)
        for (int step = 1; step <= 5; step += step == 1 ? 1 : 3) {
            fprintf(script, "%s'%g' %.17g", separator, step * decade, step * decade);
            separator = ", ";
        }
    fputs(")\n", script);
}

static void put_axes(FILE *script, const plot *p) {
    const plot_range range = range_of(p);
    put_setting(script, "title", p->title);
    put_setting(script, "xlabel", p->x_label);
    put_setting(script, "ylabel", p->y_label);
    fprintf(script,
            "set title offset character 0,0.8\n"
            "set border %d linecolor rgb '#404040'\n"
            "set grid linetype 1 linecolor rgb '#e4e4e4' linewidth 1\n"
            "set tics nomirror\n"
            "set bmargin 5.5\n"
            "set rmargin 11\n"
            "set key at screen 0.5,screen 0.04 center center horizontal\n"
            "set yrange [0:%.17g]\n",
            p->right_label != NULL ? 11 : 3, range.y_most * 1.05);
    if (p->curve_count == 1)
        fputs("unset key\n", script);
    if (p->x_log)
        put_log_axis(script, &range);
    else
        fprintf(script, "set xrange [0:%.17g]\n", range.x_most);
    if (p->right_label != NULL) {
        put_setting(script, "y2label", p->right_label);
        fputs("set y2tics nomirror\n", script);
    }
    if (p->right_label != NULL && p->right_log)
        fputs("set logscale y2\nset format y2 '%g'\n", script);
}

static const char *const colours[] = {"#0060a8", "#c84000", "#208040", "#803090",
                                      "#00a0a0", "#a08000", "#d040a0", "#606060",
                                      "#60b0ff", "#ff9060", "#70c070", "#b080d0"};
enum { COLOURS = sizeof colours / sizeof *colours };

static void put_curves(FILE *script, const plot *p) {
    for (size_t i = 0; i < p->curve_count; i++) {
        const plot_curve *c = &p->curves[i];
        fprintf(script,
                "%s $curve%zu axes x1%s with %s linewidth 2 dashtype %d linecolor rgb '%s' ",
                i == 0 ? "plot" : ",", i, c->right ? "y2" : "y1",
                c->points ? "points pointtype 7 pointsize 0.4"
                          : "linespoints pointtype 7 pointsize 0.5",
                c->like > 0 ? 2 : 1, colours[(c->like > 0 ? c->like - 1 : i) % COLOURS]);
        fputs(c->label != NULL ? "title " : "notitle", script);
        if (c->label != NULL)
            put_quoted(script, c->label);
    }
    fputc('\n', script);
}

static void put_plot(FILE *script, const void *what) {
    const plot *p = what;
    put_data(script, p);
    put_axes(script, p);
    put_marks(script, p);
    put_curves(script, p);
}

/* The bars of a name share 0.8 of the distance between two names. */
static double bar_place(const plot_bars *p, size_t series, size_t name) {
    const double width = 0.8 / (double)p->series_count;
    return (double)name + ((double)series + 0.5) * width - 0.4;
}

static void put_bar_data(FILE *script, const plot_bars *p) {
    for (size_t i = 0; i < p->series_count; i++) {
        const plot_series *s = &p->series[i];
        fprintf(script, "$series%zu << END\n", i);
        for (size_t k = 0; k < p->name_count; k++)
            fprintf(script, "%.17g %.17g %.17g %.17g\n", bar_place(p, i, k), s->value[k], s->low[k],
                    s->high[k]);
        fputs("END\n", script);
    }
    if (p->expected == NULL)
        return;
    fputs("$expected << END\n", script);
    for (size_t k = 0; k < p->name_count; k++)
        fprintf(script, "%zu %.17g\n", k, p->expected[k]);
    fputs("END\n", script);
}

/* gnuplot takes the label of a tic as a format; two % are one. */
static void put_tic_label(FILE *script, const char *text) {
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '%')
            fputc(*text, script);
        if ((unsigned char)*text >= ' ')
            fputc(*text, script);
    }
    fputc('\'', script);
}

static void put_bar_axes(FILE *script, const plot_bars *p) {
    put_setting(script, "title", p->title);
    put_setting(script, "ylabel", p->y_label);
    fprintf(script,
            "set border 3 linecolor rgb '#404040'\n"
            "set grid ytics linetype 1 linecolor rgb '#e4e4e4' linewidth 1\n"
            "set tics nomirror\n"
            "set key outside right top\n"
            "set boxwidth %.17g\n"
            "set style fill solid 0.6 noborder\n"
            "set xrange [-0.6:%.17g]\n"
            "set yrange [0:*]\n"
            "set xtics rotate by -40 (",
            0.8 / (double)p->series_count, (double)p->name_count - 0.4);
    for (size_t k = 0; k < p->name_count; k++) {
        fputs(k == 0 ? "" : ", ", script);
        put_tic_label(script, p->names[k]);
        fprintf(script, " %zu", k);
    }
    fputs(")\n", script);
}

static void put_bars(FILE *script, const void *what) {
    const plot_bars *p = what;
    put_bar_data(script, p);
    put_bar_axes(script, p);
    for (size_t i = 0; i < p->series_count; i++) {
        fprintf(script, "%s $series%zu using 1:2 with boxes linecolor rgb '%s' title ",
                i == 0 ? "plot" : ",", i, colours[i % COLOURS]);
        put_quoted(script, p->series[i].label);
        fprintf(
            script,
            ", $series%zu using 1:2:3:4 with yerrorbars pointtype 0 linewidth 1.5 linecolor rgb "
            "'#404040' notitle",
            i);
    }
    if (p->expected == NULL) {
        fputc('\n', script);
        return;
    }
    fputs(", $expected using 1:2:(0.8) with boxes fill empty border rgb '#808080' linecolor rgb "
          "'#808080' title ",
          script);
    put_quoted(script, p->expected_label);
    fputc('\n', script);
}

/* Writes the script of a plot, without its terminal. */
typedef void put_script(FILE *script, const void *what);

static bool put_all(FILE *script, put_script *put, const void *what, bool svg) {
    fputs("set encoding utf8\n", script);
    fputs(svg ? "set terminal svg size 900,560 font 'Helvetica,15'"
              : "set terminal pngcairo size 1800,1120 font 'Sans,24' linewidth 2",
          script);
    fputs(" noenhanced background rgb 'white'\n", script);
    put(script, what);
    return fflush(script) == 0 && !ferror(script) && fseek(script, 0, SEEK_SET) == 0;
}

static FILE *open_in_memory(void) {
    const int file = memfd_create("tem", MFD_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, "w+");
}

static int complain(const char *path, const char *what) {
    fprintf(stderr, "tem: %s: %s\n", path, what);
    return EXIT_FAILED;
}

static int draw(const char *path, put_script *put, const void *what, FILE *script, FILE *picture) {
    tem_error error;
    if (!put_all(script, put, what, outputs_ends_in(path, ".svg")) ||
        !gnuplot_run("-", NULL, (const int[]){fileno(script), fileno(picture), -1}))
        return complain(path, "gnuplot could not draw it");
    return gnuplot_keep(fileno(picture), path, &error) == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int write_with(const char *path, put_script *put, const void *what) {
    FILE *script = open_in_memory();
    FILE *picture = script == NULL ? NULL : open_in_memory();
    const int status =
        picture != NULL ? draw(path, put, what, script, picture) : complain(path, strerror(errno));
    if (picture != NULL)
        fclose(picture);
    if (script != NULL)
        fclose(script);
    return status;
}

int plot_write(const char *path, const plot *p) {
    return write_with(path, put_plot, p);
}

int plot_write_bars(const char *path, const plot_bars *p) {
    return write_with(path, put_bars, p);
}
