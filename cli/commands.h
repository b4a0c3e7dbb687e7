/* commands.h - the commands of tem. Each takes its own name as argv[0] and returns
 * an exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int command_adapt(int argc, char *const *argv);
int command_attack(int argc, char *const *argv);
int command_audit(int argc, char *const *argv);
int command_build(int argc, char *const *argv);
int command_calibrate(int argc, char *const *argv);
int command_choose(int argc, char *const *argv);
int command_compare(int argc, char *const *argv);
int command_distance(int argc, char *const *argv);
int command_eval(int argc, char *const *argv);
int command_estimate(int argc, char *const *argv);
int command_explain(int argc, char *const *argv);
int command_info(int argc, char *const *argv);
int command_loss(int argc, char *const *argv);
int command_mechanisms(int argc, char *const *argv);
int command_ngram(int argc, char *const *argv);
int command_nearest(int argc, char *const *argv);
int command_posterior(int argc, char *const *argv);
int command_privatize(int argc, char *const *argv);
int command_train(int argc, char *const *argv);
int command_vectors(int argc, char *const *argv);
int command_verify(int argc, char *const *argv);

#endif
