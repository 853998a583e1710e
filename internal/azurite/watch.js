// Loaded before Azurite: ends the process when its standard input ends, so that
// no emulator outlives the test that started it, however that test ended.
process.stdin.on("close", () => process.exit(0));
process.stdin.resume();
