import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'
import { readSourceTexts, readTexts } from '../../l10n/source-texts.ts'
import {
  bundleFile,
  manifestFile,
  readTextsOf,
  translationProblems,
  translationsOf,
} from '../../l10n/translations.ts'

const languages = ['zh-cn']

describe('a text that users see', () => {
  let source: ReturnType<typeof readSourceTexts>
  before(() => {
    source = readSourceTexts()
  })

  it('is localized', () => {
    assert.deepEqual(source.problems, [])
  })

  it('is in the bundle for translations (written by npm run l10n)', () => {
    assert.deepEqual(Object.keys(readTextsOf(bundleFile)).sort(), [...source.texts].sort())
  })

  for (const [what, file] of [
    ['the views and messages', bundleFile],
    ['the manifest', manifestFile],
  ] as const)
    it(`is translated in ${what}, with the same placeholders and code`, () => {
      const translations = translationsOf(file)
      assert.deepEqual(
        translations.map(one => one.language),
        languages,
      )
      for (const { language, texts } of translations)
        assert.deepEqual(translationProblems(readTextsOf(file), texts), [], language)
    })

  it('has an existing key in the manifest, where every key is used', () => {
    const manifest = readFileSync(join(projectDirectory, 'package.json'), 'utf8')
    const used = [...manifest.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key)
    assert.deepEqual([...new Set(used)].sort(), Object.keys(readTextsOf(manifestFile)).sort())
  })
})

describe('the search for texts', () => {
  const problems = (file: string, code: string) => readTexts(file, code).problems.length

  it('finds localized texts', () => {
    const code = `const f = (n: number) =>
      [t('One'), t(n > 1 ? 'Two' : 'Three'), plural(n, 'Four', '{0} fives'), l10n.t(\`Six\`)]`
    const texts = ['One', 'Two', 'Three', 'Four', '{0} fives', 'Six']
    assert.deepEqual([...readTexts('src/app/x.ts', code).texts], texts)
    assert.equal(problems('src/app/x.ts', code), 0)
  })

  for (const [what, code] of [
    ['text between tags', 'const f = () => <p>Hello there</p>'],
    ['text in braces', "const f = () => <p>{on ? 'Hello' : t('Bye')}</p>"],
    ['an attribute', 'const f = () => <button title="Hello" />'],
    [
      'an attribute in braces',
      "const f = () => <button aria-label={on ? t('Bye') : `Hello $" + '{name}`} />',
    ],
  ] as const)
    it(`finds ${what} that isn't localized`, () => {
      assert.equal(problems('src/webview/x.tsx', code), 1)
    })

  for (const [what, code] of [
    ['a message', "const f = () => vscode.window.showErrorMessage('It failed', t('Retry'))"],
    ['a property', "const f = () => ({ placeHolder: 'Which one?' })"],
    ['a message with a value', 'const f = () => vscode.window.showWarningMessage(`No $' + '{name}`)'],
    ['a text that is put together', "const f = () => l10n.t('No ' + name)"],
    ['a text before the language is known', "const words = { yes: l10n.t('Yes') }"],
  ] as const)
    it(`finds ${what} that can't be translated`, () => {
      assert.equal(problems('src/app/x.ts', code), 1)
    })

  it('ignores icons, names and classes', () => {
    const code = `const f = () =>
      <p class={on ? 'big' : 'small'} title={name}>{'·'} Parley <Icon name="send" /></p>`
    assert.equal(problems('src/webview/x.tsx', code), 0)
  })
})

describe('a translation', () => {
  it('must contain exactly the texts, with their placeholders and code', () => {
    const english = { 'Open {0}': 'Open {0}', Close: 'Close', set: 'Set `a.b`' }
    assert.deepEqual(translationProblems(english, { 'Open {0}': '{0} 开', Close: '关', set: '设 `a.b`' }), [])
    const wrong = { 'Open {0}': '开 {1}', set: '设 `a.c`', More: '多' }
    const found = translationProblems(english, wrong).map(line => line.split(':')[0])
    assert.deepEqual(found, ['missing', 'not in English', 'different', 'different'])
  })
})
