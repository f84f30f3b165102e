// Renders what stands on its standard input, a JSON list of [template, values], with the Handlebars given
// by its path, and writes a JSON list of {"text": …} or {"error": …}.
//
//     node render.js node_modules/handlebars/dist/handlebars.js < cases.json
const Handlebars = require(require("path").resolve(process.argv[2]));
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = cases.map(([template, values]) => {
  try {
    return { text: Handlebars.compile(template, { noEscape: true })(values) };
  } catch (error) {
    return { error: String(error.message) };
  }
});
process.stdout.write(JSON.stringify(answers));
