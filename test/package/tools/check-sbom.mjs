// Checks a bill of materials against the schema of CycloneDX: node check-sbom.mjs FILE
import { readFileSync } from 'node:fs'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
const problems = await validator.validate(readFileSync(process.argv[2], 'utf8'))
if (problems !== null) throw new Error(JSON.stringify(problems, null, 2))
