import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { manifestFile, readTextsOf, translationsOf } from '../l10n/translations.ts'
import { readContributions } from './manifest.ts'

/** The files with what is contributed to VS Code, as they should be. */
export function contributionFiles(): Array<{ file: string; content: string }> {
  const { contributes, texts: contributed } = readContributions()
  const file = join(projectDirectory, 'package.json')
  const manifest = { ...JSON.parse(readFileSync(file, 'utf8')), contributes }
  const { contributes: _, ...rest } = manifest
  const known = readTextsOf(manifestFile)
  const others = [...JSON.stringify(rest).matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key!)
  const texts = { ...Object.fromEntries(others.map(key => [key, known[key]])), ...contributed }
  const translations = translationsOf(manifestFile).map(({ language, texts: translated }) => ({
    file: manifestFile.replace(/json$/, `${language}.json`),
    // what is missing or not needed anymore is a problem that `npm run l10n` reports
    content: Object.fromEntries(sortedLike(Object.keys(texts), Object.entries(translated))),
  }))
  return [{ file, content: manifest }, { file: manifestFile, content: texts }, ...translations].map(
    ({ file, content }) => ({ file, content: `${JSON.stringify(content, null, 2)}\n` }),
  )
}

function sortedLike(keys: readonly string[], entries: ReadonlyArray<[string, string]>) {
  const place = (key: string) => (keys.includes(key) ? keys.indexOf(key) : keys.length)
  return entries.toSorted(([one], [other]) => place(one) - place(other))
}
