// Writes the English texts of the source to l10n/bundle.l10n.json, from which translations are created:
//   npm run l10n
// Reports missing and unused texts in the translations.
import { writeFileSync } from 'node:fs'
import { readSourceTexts } from './source-texts.ts'
import { bundleFile, manifestFile, readTextsOf, translationProblems, translationsOf } from './translations.ts'

const { texts, problems } = readSourceTexts()
const sorted = [...texts].sort((a, b) => (a < b ? -1 : 1))
const bundle = Object.fromEntries(sorted.map(text => [text, text]))
writeFileSync(bundleFile, `${JSON.stringify(bundle, null, 2)}\n`)
console.log(`${sorted.length} texts`)

for (const file of [bundleFile, manifestFile])
  for (const { language, texts } of translationsOf(file))
    for (const problem of translationProblems(readTextsOf(file), texts))
      problems.push(`${language}: ${problem}`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
