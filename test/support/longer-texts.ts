import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outDirectory, projectDirectory } from '../host/paths.ts'

/** A language that nobody speaks, by the name that Windows and VS Code give it: English, longer and with accents. */
export const LONGER = 'qps-ploc'

export type TestLanguage = 'zh-cn' | typeof LONGER

/** The file with the texts of Parley in a language. */
export function bundleOf(language: TestLanguage): string {
  if (language !== LONGER) return join(projectDirectory, `l10n/bundle.l10n.${language}.json`)
  longerBundle ??= writeLongerBundle()
  return longerBundle
}

/** Of this process. */
let longerBundle: string | undefined

function writeLongerBundle(): string {
  const english = readFileSync(join(projectDirectory, 'l10n/bundle.l10n.json'), 'utf8')
  const longer = Object.keys(JSON.parse(english)).map(text => [text, longerText(text)])
  const file = join(outDirectory, `bundle.l10n.${LONGER}.json`)
  mkdirSync(outDirectory, { recursive: true })
  // other tests may be reading it
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(Object.fromEntries(longer)))
  renameSync(`${file}.${process.pid}`, file)
  return file
}

const PLAIN = 'aeiouynsAEIOUYNS'
const ACCENTED = 'áéíöüýñšÁÉÍÖÜÝÑŠ'

/**
 * A text with accents, in which frequent letters are doubled, which makes its words about 40% longer, as German or Finnish ones are. What
 * isn't for readers stays: placeholders, code, paths and the targets of links.
 */
function longerText(text: string): string {
  return text.replace(/`[^`]*`|\{\d+\}|\]\([^)]*\)|\S*[/@#.]\w\S*|[a-z]/gi, part => {
    const accented = ACCENTED[PLAIN.indexOf(part)]
    return accented ? accented + part.toLowerCase() : part
  })
}
