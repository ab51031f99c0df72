"use strict";

module.exports = require("./test/support/tiers").configOf("test");
