/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions of regrlab mail. argv[0] is the action's name; they return the program's exit status. */
#pragma once

#include "client/options.h"

int mail_read(int argc, char **argv);
