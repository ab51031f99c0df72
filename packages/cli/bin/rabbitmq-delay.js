#!/usr/bin/env node
"use strict";

const { main, report } = require("../dist/main.js");

// Whoever reads no further, as head does, is no fault.
process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? process.exitCode : report(error)));
process.on("uncaughtException", (error) => process.exit(report(error)));
main(process.argv);
