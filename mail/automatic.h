/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a program wrote a mail: such mail is never answered. Used by message.c alone. */
#pragma once

#include <gmime/gmime.h>

#include "mail/message.h"

/* Headers of message must be read. RFC 3834 and what is seen beside it. */
Automatic automatic_kind(GMimeMessage *mail, const Message *message, const char *own);
