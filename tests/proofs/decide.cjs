// Reads a list of simulations and writes a list of IAM's decisions, or of errors.
const { readFileSync } = require("node:fs");
const { runSimulation } = require("@cloud-copilot/iam-simulate");

const decide = async (simulation) => {
  const { errors, overallResult } = await runSimulation(simulation, {});
  return overallResult ?? JSON.stringify(errors);
};
Promise.all(JSON.parse(readFileSync(0, "utf8")).map(decide)).then((decisions) =>
  console.log(JSON.stringify(decisions)),
);
