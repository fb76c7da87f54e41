# SPDX-License-Identifier: Apache-2.0
"""Other modules' spellings of nvtxt."""
