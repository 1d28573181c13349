// Prints what AWS's language service for Amazon States Language has against a definition, as JSON.
const fs = require("node:fs");
const { getLanguageService } = require("amazon-states-language-service");
const { TextDocument } = require("vscode-languageserver-textdocument");

const service = getLanguageService({});
const text = fs.readFileSync(process.argv[2], "utf8");
const document = TextDocument.create("file:///definition.asl.json", "asl", 1, text);
service
  .doValidation(document, service.parseJSONDocument(document))
  .then((remarks) => console.log(JSON.stringify(remarks.map((remark) => remark.message))));
