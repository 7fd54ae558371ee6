import assert from 'node:assert/strict'
import fc from 'fast-check'
import { languageId, proposedText } from '../../../src/editor/code-blocks.ts'

const file = [
  'import a from "a"',
  '',
  'function one() {',
  '  return 1',
  '}',
  '',
  'function two() {',
  '  if (a) {',
  '    return 2',
  '  }',
  '}',
  '',
].join('\n')

describe('the proposed text of a code block', () => {
  it('replaces the lines that the code names', () => {
    const text = proposedText(file, 'const one = 1\n', 'ts', { from: 3, to: 5 })
    assert.equal(text, file.replace('function one() {\n  return 1\n}', 'const one = 1'))
  })

  it('replaces the selection', () => {
    const start = file.indexOf('return 1')
    const text = proposedText(file, 'return 11', 'ts', { selection: { start, end: start + 8 } })
    assert.equal(text, file.replace('return 1', 'return 11'))
  })

  it('replaces the part that starts and ends like the code', () => {
    const code = 'function two() {\n  return 22\n}'
    assert.equal(
      proposedText(file, code, 'ts', { selection: { start: 0, end: 0 } }),
      file.replace('function two() {\n  if (a) {\n    return 2\n  }\n}', code),
    )
  })

  it('is indented like the lines it replaces', () => {
    const text = proposedText(file, 'if (a) {\n  return 3\n}', 'ts', { selection: { start: 0, end: 0 } })
    assert.equal(text, file.replace('    return 2', '    return 3'))
  })

  it('replaces the whole file if the code contains most of it', () => {
    const code = file.replace('return 1', 'return 7').replace('import a', 'import b')
    assert.equal(proposedText(file, code, 'ts', { selection: { start: 5, end: 5 } }), code)
    assert.equal(proposedText(file, 'other', 'ts', {}), 'other\n', 'A file that the code names')
    assert.equal(proposedText('', 'new\nfile', 'ts', {}), 'new\nfile\n')
  })

  it('is otherwise inserted above the cursor line', () => {
    const start = file.indexOf('return 1')
    const text = proposedText(file, 'log()', 'ts', { selection: { start, end: start } })
    assert.equal(text, file.replace('  return 1', 'log()\n  return 1'))
  })

  it('is that of an applied patch, if it applies', () => {
    const patch = '--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@\n function one() {\n-  return 1\n+  return 5\n }\n'
    assert.equal(proposedText(file, patch, 'diff', {}), file.replace('return 1', 'return 5'))
    assert.equal(proposedText('nothing of it\n', patch, 'diff', {}), undefined)
  })

  it('keeps the line endings of the file', () => {
    const text = proposedText(file.replaceAll('\n', '\r\n'), 'a\nb', 'ts', { from: 1, to: 1 })!
    assert.ok(text.startsWith('a\r\nb\r\n'))
    assert.doesNotMatch(text, /[^\r]\n/)
  })

  it('always contains the code', () => {
    const line = fc.constantFrom('a', ' b', '', '}', 'x {', '\ty')
    const lines = fc.array(line, { maxLength: 12 }).map(all => all.join('\n'))
    fc.assert(
      fc.property(lines, lines, fc.nat(40), (current, code, at) => {
        const start = Math.min(at, current.length)
        const text = proposedText(current, code, 'ts', { selection: { start, end: start } })!
        for (const part of code.split('\n').filter(one => one.trim() !== ''))
          assert.ok(text.includes(part.trim()), text)
      }),
    )
  })
})

describe('the language of a document', () => {
  const known = ['plaintext', 'typescript', 'shellscript', 'python', 'cpp', 'Log']
  it('is found by any name that code fences use', () => {
    assert.equal(languageId('ts', known), 'typescript')
    assert.equal(languageId('Bash', known), 'shellscript')
    assert.equal(languageId('c++', known), 'cpp')
    assert.equal(languageId('python', known), 'python')
    assert.equal(languageId('log', known), 'Log')
  })
  it("is undefined if VS Code doesn't know it", () => {
    assert.equal(languageId('brainfuck', known), undefined)
    assert.equal(languageId('', known), undefined)
  })
})
