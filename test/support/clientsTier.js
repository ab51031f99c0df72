"use strict";

module.exports = require("./tiers").configOf("clients");
