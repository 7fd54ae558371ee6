import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

/** British spellings. Names of the protocol (`cancelled`, `catalogue`) and of other APIs aren't included. */
const BRITISH =
  /\b(?:colours?|coloured|behaviours?|favour\w*|honour\w*|neighbour\w*|organis(?:e|ed|ing|ation)|recognis\w+|normalis\w+|initialis\w+|serialis\w+|synchronis\w+|sanitis\w+|summaris\w+|customis\w+|prioritis\w+|minimis\w+|maximis\w+|optimis(?:e|ed|ing|ation)|analys(?:e|ed|ing)|cent(?:re|red|ring)|grey|licence|dialogue|towards|afterwards|whilst|labell(?:ed|ing)\b|modell(?:ed|ing)|travell\w+|signall\w+|cancelling)\b/gi

/** Files that need them: options of programs, and this list. */
const MEANT = new Map([['src/sessions/permission-rules/command-table.ts', ['colour']]])

describe('the spelling in source, tests and documents', () => {
  it('is American English', () => {
    const listed = execFileSync(
      'git',
      ['ls-files', '-z', 'src', 'test', '*.md', 'package.json', 'package.nls.json', 'l10n/bundle.l10n.json'],
      { cwd: projectDirectory, encoding: 'utf8' },
    )
    const files = listed
      .split('\0')
      .filter(file => /\.(?:tsx?|mjs|css|md|json)$/.test(file))
      // recordings, and this file
      .filter(file => !/\/transcripts\/|repository\/spelling/.test(file))
    assert.ok(files.length > 500)
    const found = files.flatMap(file =>
      readFileSync(join(projectDirectory, file), 'utf8')
        .split('\n')
        // URLs keep their owners' spelling
        .flatMap(
          (line, i) =>
            line
              .replace(/https?:\S+/g, '')
              .match(BRITISH)
              ?.map(word => ({ word, i })) ?? [],
        )
        .filter(({ word }) => !MEANT.get(file)?.includes(word))
        .map(({ word, i }) => `${file}:${i + 1}: ${word}`),
    )
    assert.deepEqual(found, [])
  })
})
