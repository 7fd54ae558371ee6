import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'

export type Texts = Readonly<Record<string, string>>

/** The English texts, each its own key: the source for translators. */
export const bundleFile = join(projectDirectory, 'l10n', 'bundle.l10n.json')
/** The texts of the manifest by their keys. */
export const manifestFile = join(projectDirectory, 'package.nls.json')

export function readTextsOf(file: string): Texts {
  return JSON.parse(readFileSync(file, 'utf8')) as Texts
}

/** All translations of a file by language: `l10n/bundle.l10n.zh-cn.json` of `l10n/bundle.l10n.json`. */
export function translationsOf(file: string): Array<{ language: string; texts: Texts }> {
  const directory = join(file, '..')
  const begin = file.slice(directory.length + 1).replace(/json$/, '')
  return readdirSync(directory).flatMap(name => {
    const language = name.startsWith(begin) ? name.slice(begin.length, -'.json'.length) : ''
    return language === '' ? [] : [{ language, texts: readTextsOf(join(directory, name)) }]
  })
}

/** What is missing or unused in a translation, or has different placeholders or code; one line each. */
export function translationProblems(english: Texts, translated: Texts): string[] {
  const lacks = Object.keys(english).filter(key => !Object.hasOwn(translated, key))
  const tooMuch = Object.keys(translated).filter(key => !Object.hasOwn(english, key))
  const different = Object.entries(english).flatMap(([key, text]) => {
    const other = translated[key]
    if (other === undefined) return []
    if (other.trim() === '') return [`empty: ${key}`]
    const [wanted, found] = [fixedParts(text), fixedParts(other)]
    return wanted === found ? [] : [`different: ${key}: ${found}, not ${wanted}`]
  })
  return [
    ...lacks.map(key => `missing: ${key}`),
    ...tooMuch.map(key => `not in English: ${key}`),
    ...different,
  ]
}

/** The parts that are the same in every language: placeholders, code, URLs. Sorted, since word order differs. */
function fixedParts(text: string): string {
  const code = text.match(/`[^`]*`|https?:[^\s)，。]*\w/g) ?? []
  const placeholders = text.replace(/`[^`]*`/g, '').match(/\{\d+\}/g) ?? []
  return [...new Set([...code, ...placeholders])].sort().join(' ')
}
