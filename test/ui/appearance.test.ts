import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { layoutProblems } from './support/layout.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the views', () => {
  const vscode = new VsCodeSuite()

  // the first one, in which no session is listed
  it('are completely translated into Chinese and fit into 280 pixels', async () => {
    // set like a display language, without a language pack, which would also translate the workbench
    const prepare = async (page: Workbench['page']) => {
      await page.addInitScript("globalThis._VSCODE_NLS_LANGUAGE = 'zh-cn'")
    }
    const workbench = await vscode.open({ prepare })
    await workbench.openViewContainer('Parley')
    await workbench.setSideBarWidth(280)
    const conversation = await ConversationPage.find(workbench)
    const { frame } = conversation
    await frame.getByRole('heading', { name: '设置智能体' }).waitFor()
    await fitsAndIsChinese()
    await conversation.button(/^试用演示智能体/).click()
    await conversation.waitForPhase('ready')
    await frame.getByRole('textbox', { name: '消息' }).click()
    await workbench.page.keyboard.type('Look at planets.js, please')
    await workbench.page.keyboard.press('Enter')
    const question = frame.getByRole('group', { name: /^需要权限：/ })
    await question.getByText('允许此编辑？').waitFor()
    await fitsAndIsChinese()
    await workbench.screenshot('chinese')
    await question.getByRole('button', { name: 'Reject', exact: true }).click()
    await question.getByText('允许此编辑？').waitFor({ state: 'detached' })
    const title = 'Parley: 新建会话'
    await waitFor('the command in Chinese', async () =>
      (await workbench.commandTitles(title)).includes(title),
    )

    async function fitsAndIsChinese() {
      assert.deepEqual(await layoutProblems(frame), [])
      const english = /\b(Start|session|Stop|Allow this|Working directory|Send|context)\b/
      const shown = await frame.locator('.header, .empty, .composer, .permission .card-title').allInnerTexts()
      assert.doesNotMatch(shown.join('\n'), english)
    }
  })
})
