/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions of regrlab mail. argv[0] is the action's name; they return the program's exit status. */
#pragma once

#include "client/options.h"

int mail_read(int argc, char **argv);
int mail_receive(int argc, char **argv);
int mail_watch(int argc, char **argv);
int mail_send(int argc, char **argv);
int mail_pending(int argc, char **argv);
int mail_outbox(int argc, char **argv);
int mail_stop(int argc, char **argv);
int mail_resume(int argc, char **argv);
