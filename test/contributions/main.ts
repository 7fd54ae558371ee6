// Writes what src/contributions/ says to package.json and package.nls.json, and sorts the translations like that:
//   npm run contributions
import { writeFileSync } from 'node:fs'
import { contributionFiles } from './contribution-files.ts'

for (const { file, content } of contributionFiles()) writeFileSync(file, content)
