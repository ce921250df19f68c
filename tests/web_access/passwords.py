# SPDX-License-Identifier: Apache-2.0
"""Passwords with what bcrypt makes of them at cost 5, so that a login costs a test little."""

USER = "prometheus"
PASSWORD = "open sesame"
HASH = "$2b$05$q49R3eYjh.fhZZ1352Pwq.dlVBBH9alSmgvkw6jcfyRy1bkm5E6ZW"
NEXT_PASSWORD = "abra:cadabra"
NEXT_HASH = "$2b$05$esUErZQj5BRLXZhqPWcbueK/AWdsoThHiSYrNO.QF0SlDUz3SbmIG"
TOKEN = "4f1c60d3b2a5987e"
NEXT_TOKEN = "9b7d02ee41c8a635"
