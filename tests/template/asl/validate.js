// Prints what AWS's language service for Amazon States Language has against each definition, as JSON.
const fs = require("node:fs");
const { getLanguageService } = require("amazon-states-language-service");
const { TextDocument } = require("vscode-languageserver-textdocument");

const service = getLanguageService({});

async function remarksOn(path) {
  const text = fs.readFileSync(path, "utf8");
  const document = TextDocument.create(`file://${path}`, "asl", 1, text);
  const remarks = await service.doValidation(document, service.parseJSONDocument(document));
  return remarks.map((remark) => remark.message);
}

Promise.all(process.argv.slice(2).map(remarksOn)).then((all) => console.log(JSON.stringify(all)));
