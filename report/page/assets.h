// SPDX-License-Identifier: Apache-2.0
//
// What assets/ has, as page/embed put it into the program: the page with places such as
// `{{title}}`, its style and its script, and what the policy of the page calls them.
#pragma once

#include "protocol/base/slice.h"

extern const struct nvtxt_slice page_assets_page, page_assets_style, page_assets_script;
extern const char page_assets_style_hash[], page_assets_script_hash[]; // "sha256-…"
