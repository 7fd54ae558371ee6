import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testDirectory } from '../host/paths.ts'
import { themes } from '../host/vscode-window.ts'
import { readThemeLooks } from './support/axe.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const folder = join(testDirectory, 'support/page/workbench')

interface Look {
  style: string
  classes: string[]
  data: Record<string, string>
}

/** `UPDATE_SNAPSHOTS=1` writes both files again after an update of VS Code. */
describe('what page tests take from VS Code', () => {
  const vscode = new VsCodeSuite()

  it('is what VS Code gives to a webview: the four themes, and the default styles', async () => {
    const workbench = await vscode.open()
    const { frame } = await ConversationPage.open(workbench)
    const looks = await readThemeLooks(workbench, 'body[data-view="conversation"]')
    const given = Object.fromEntries(
      looks.map(({ kind, given }) => {
        const { style, classes, data } = given as Look
        const theirs = style.split(/(?<=;) /).filter(one => !one.startsWith('--parley-'))
        return [kind, { workbench: themes[kind].className, style: theirs.join(' '), classes, data }]
      }),
    )
    const styles = await frame.evaluate<string>("document.querySelector('#_defaultStyles').textContent")
    if (process.env.UPDATE_SNAPSHOTS) {
      writeFileSync(join(folder, 'themes.json'), `${JSON.stringify(given, null, 2)}\n`)
      writeFileSync(join(folder, 'webview.css'), styles)
    }
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'themes.json'), 'utf8')), given)
    const rules = (text: string) =>
      text
        .replace(/\/\*.*?\*\//gs, '')
        .replace(/\s+/g, '')
        .replaceAll("'", '"')
    assert.equal(rules(readFileSync(join(folder, 'webview.css'), 'utf8')), rules(styles))
  })
})
