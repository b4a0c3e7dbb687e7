/* talk.h - what the command says on stderr: errors, notes, progress. */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "tem.h"

#include <stdbool.h>

/* Exit statuses. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* "tem: ..." for a failed call of the library, with file, line and what was
 * expected; returns EXIT_FAILED. */
int talk_error(const tem_error *error);

/* "tem COMMAND: ..." and where to look; returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int talk_usage(const char *command, const char *format, ...);

/* A line of information, unless the user asked for quiet. */
__attribute__((format(printf, 2, 3))) void talk_note(bool quiet, const char *format, ...);

/* A number with its thousands set apart, in one of a few static buffers. */
const char *talk_count(uint64_t number);

/* A number in as few digits as read as the same number again, likewise. */
const char *talk_number(double number);

/* Bytes as "92.4 MB", likewise. */
const char *talk_bytes(uint64_t bytes);

/* A distance in six decimals, rounded up, so that "at most" stays true; likewise. */
const char *talk_distance_up(tem_dist distance);

/* Seconds on a clock that only goes forward. */
double talk_clock(void);

/* A run with progress on stderr if that is a terminal and the user did not ask for
 * quiet. Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT: the call in progress then ends with
 * TEM_ERR_CANCELLED, cleans up, and talk_error ends the program by the signal. What has not ended
 * within a second is ended then, and its temporary files are removed. */
tem_run talk_run(unsigned threads, bool quiet);

/* The exit status of a command. One that failed after such a signal ends the program by it: the
 * signal may be why it failed. */
int talk_finish(int status);

/* From now on the first SIGINT does not end the call in progress: talk_interrupted tells of it, and
 * the second one ends it. */
void talk_be_patient(void);
bool talk_interrupted(void);

/* Shown behind the bar until its stage ends. */
__attribute__((format(printf, 1, 2))) void talk_say_beside_bar(const char *format, ...);

/* Clears what progress has left on the terminal. */
void talk_end_progress(void);

#endif
