# SPDX-License-Identifier: Apache-2.0
"""A user whom the machine does not name and to whom nothing belongs."""

ORDINARY = 23456
