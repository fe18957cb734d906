// Counts the checks of a program.
'use strict';

let passed = 0;
let failed = 0;

async function check(name, run) {
  try {
    await run();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}

// Prints the counts, and ends the program.
function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

module.exports = { check, finish };
