/* talk.h - errors, notes and progress on stderr. */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "tem.h"

#include <stdbool.h>

/* Exit statuses. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Prints "tem: ..." for a failed call of the library: file, line, what was expected, and what the
 * user can do about it. Returns EXIT_FAILED. */
int talk_error(const tem_error *error);

/* Prints "tem COMMAND: ..." and how to get help. Returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int talk_usage(const char *command, const char *format, ...);

/* Prints a line, unless `quiet`. */
__attribute__((format(printf, 2, 3))) void talk_note(bool quiet, const char *format, ...);

/* Numbers as text, each in one of 8 static buffers that are used in turn. */

/* With commas between thousands. */
const char *talk_count(uint64_t number);

/* With as few digits as give the same number when they are read. */
const char *talk_number(double number);

/* As "92.4 MB". */
const char *talk_bytes(uint64_t bytes);

/* With six decimals, rounded up, so that "at most" stays true. */
const char *talk_distance_up(tem_dist distance);

/* Seconds on a clock that only goes forward. */
double talk_clock(void);

/* Returns a run that shows progress on stderr, if stderr is a terminal and not `quiet`. Catches
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT: the call in progress then ends with TEM_ERR_CANCELLED and
 * cleans up, and talk_error ends the program by the signal. If the call has not ended within a
 * second, the signal ends the program, and tem removes the temporary files first. */
tem_run talk_run(unsigned threads, bool quiet);

/* Returns the exit status of a command. If the command failed after one of the signals that
 * talk_run catches, ends the program by that signal instead: the signal may be why the command
 * failed. */
int talk_finish(int status);

/* From now on the first SIGINT does not end the call in progress. talk_interrupted then returns
 * true; the second SIGINT ends the call. */
void talk_be_patient(void);
bool talk_interrupted(void);

/* Text to show behind the progress bar until its stage ends. */
__attribute__((format(printf, 1, 2))) void talk_say_beside_bar(const char *format, ...);

/* Clears the progress bar from the terminal. */
void talk_end_progress(void);

#endif
