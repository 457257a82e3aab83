// Dolos's similarities as JSON lines. usage: node dolos_pairs.mjs NPM LIST-OF-FILES LANGUAGE
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [prefix, list, language] = process.argv.slice(2);
const library = path.resolve(prefix, "node_modules/@dodona/dolos-lib/dist/index.js");
const { Dolos } = await import(pathToFileURL(library));
const files = fs.readFileSync(list, "utf8").trim().split("\n");
const report = await new Dolos({ language }).analyzePaths(files);
for (const pair of report.allPairs()) {
  if (pair.similarity > 0) {
    const line = { a: pair.leftFile.path, b: pair.rightFile.path, score: pair.similarity };
    fs.writeSync(1, JSON.stringify(line) + "\n");
  }
}
