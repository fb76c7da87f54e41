// SPDX-License-Identifier: Apache-2.0
//
// The files of ship/sql as strings, made from them when the program is built.
#pragma once

extern const char schema_text_1[];
extern const char schema_text_roles[];
