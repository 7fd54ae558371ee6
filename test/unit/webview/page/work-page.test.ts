import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, permission, toolCall } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('conversation page: work of an agent', () => {
  let page: Page
  let revision = 0
  const heard: unknown[] = []
  let saving: (() => void) | undefined

  beforeEach(async () => {
    page = await openPage('conversation')
    heard.length = 0
    saving = undefined
    const hear = (name: string) => (params: object) => void heard.push([name, params])
    page.hear('changes/open', hear('open'))
    page.hear('changes/review', hear('review'))
    page.hear('changes/undo', hear('undo'))
    page.hear('changes/keep', hear('keep'))
    page.hear('follow/set', hear('follow'))
    page.hear('conversation/openRule', hear('rules'))
    page.hear('conversation/permission', hear('answer'))
    page.hear('conversation/offerRules', () => ({
      offers: [
        { label: 'The command npm test', preview: 'One.', json: '{ "command": "npm test" }' },
        {
          label: 'Commands that start with npm',
          preview: 'Two.',
          json: '{ "command": "npm *" }',
          isOfWorkspace: true,
        },
      ],
      workspace: true,
    }))
    page.hear('conversation/saveRule', params => {
      if (saving) saving()
      heard.push(['save', params])
    })
  })
  afterEach(() => page.close())

  const show = (entries: Entry[], more: Partial<bridge.ConversationHead> = {}) =>
    page.send('conversation/snapshot', {
      revision: ++revision,
      head: head(more),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  const query = (selector: string) => page.document.querySelector<HTMLElement>(selector)
  const button = (text: string) =>
    [...page.document.querySelectorAll<HTMLElement>('button')].find(
      one => one.textContent?.includes(text) || one.getAttribute('aria-label')?.includes(text),
    )
  const press = async (text: string) => {
    await page.until(() => button(text))
    button(text)?.click()
  }
  const { key } = head()

  it('labels a tool call with its title, else its tool name, else its kind', async () => {
    await show([
      toolCall('a', { title: 'Look around', toolName: 'grep', toolKind: 'search' }),
      toolCall('b', { title: '', toolName: 'grep', toolKind: 'edit' }),
      toolCall('c', { title: '', toolKind: 'delete' }),
    ])
    await page.until(() => page.document.querySelectorAll('.work').length === 3)
    const named = [...page.document.querySelectorAll('.work')].map(
      line => line.querySelector('.line-title')?.textContent,
    )
    assert.deepEqual(named, ['Look around', 'grep', 'Delete'])
  })

  it('shows tools and files whose names are properties of all objects', async () => {
    const changes = [
      { operation: 'modify', path: '/w/constructor', oldText: 'a', newText: 'b' },
      { operation: 'modify', path: '/w/__proto__', oldText: 'a', newText: 'c' },
    ] as const
    await show([
      toolCall('a', { toolKind: 'constructor', content: [{ type: 'diff', changes: [...changes] }] }),
    ])
    await page.until(() => query('.work .line'))
    assert.ok(query('.work .codicon-tools'))
    query('.work .line')!.click()
    await page.until(() => query('.work-body')?.textContent?.includes('c'))
    assert.equal(page.document.querySelectorAll('.change').length, 2)
  })

  it('shows the time while a request is pending and while the agent works', async () => {
    const turnStartedAt = Date.now() - 3600_000
    const call = toolCall('t', { title: 'Build', status: 'in_progress' })
    await show([call], { activity: 'running', turnStartedAt })
    await page.until(() => /^1 ?h/.test(query('.working-time')?.textContent ?? ''))
    await show([call, permission('1', { startedAt: Date.now() - 5_000 })], {
      activity: 'requires_action',
      turnStartedAt,
    })
    await page.until(() => query('.working')?.textContent?.includes('Waiting for your answer'))
    await page.until(() => /^\d+ s$/.test(query('.working-time')?.textContent ?? ''))
  })

  it("shows only this conversation's changed files, with working buttons", async () => {
    await show([])
    const files: bridge.ChangedFileNote[] = [
      { path: '/w/src/a.ts', status: 'modified', added: 60, removed: 18 },
      { path: '/w/b.ts', status: 'added', added: 1, removed: 0 },
    ]
    await page.send('changes/shown', { key: 'another', files })
    await page.send('follow/shown', { on: false })
    await page.until(() => page.document.body)
    assert.equal(query('.changes'), null)
    await page.send('changes/shown', { key, files })
    await page.until(() => query('.changes'))
    assert.match(query('.changes')?.textContent ?? '', /2 files.*\+61.*−18/)
    await press('2 files')
    await press('a.ts')
    await press('Review')
    await press('Revert Changes in b.ts')
    await press('Keep All Changes')
    await page.until(() => heard.length === 4)
    assert.deepEqual(heard, [
      ['open', { key, path: '/w/src/a.ts' }],
      ['review', { key }],
      ['undo', { key, path: '/w/b.ts' }],
      ['keep', { key }],
    ])
    await page.send('changes/shown', { key, files: [] })
    await page.until(() => !query('.changes'))
  })

  it('marks what is decided, and counts it', async () => {
    await show([])
    const decided = (
      outcome: 'kept' | 'reverted' | 'both' | 'some',
      kept: number,
      reverted: number,
      undecided = 0,
    ) => ({
      decided: { outcome, kept, reverted, undecided },
    })
    const files: bridge.ChangedFileNote[] = [
      { path: '/w/a.ts', added: 0, removed: 0, ...decided('both', 1, 2) },
      { path: '/w/b.ts', status: 'modified', added: 7, removed: 0, ...decided('some', 1, 0, 2) },
      { path: '/w/c.ts', added: 0, removed: 0, ...decided('kept', 1, 0) },
      { path: '/w/d.ts', added: 0, removed: 0, ...decided('reverted', 0, 1) },
    ]
    await page.send('changes/shown', { key, files, count: { decided: 6, total: 8 } })
    await page.until(() => query('.changes'))
    assert.match(query('.changes-bar')?.textContent ?? '', /1 file.*\+7.*6 of 8 decided/)
    await press('1 file')
    const rows = [...page.document.querySelectorAll('.changes-file')].map(row => [
      row.querySelector('.line')?.getAttribute('title'),
      row.querySelectorAll('.icon-button').length,
      row.querySelector('.line-end')?.childElementCount,
    ])
    assert.deepEqual(rows, [
      ['/w/a.ts: 1 kept, 2 reverted. Open File', 0, 1],
      ['/w/b.ts: Modified. Open Diff\n1 of 3 decided', 2, 2],
      ['/w/c.ts: Kept. Open File', 0, 1],
      ['/w/d.ts: Reverted. Open File', 0, 1],
    ])
    await press('c.ts')
    await page.until(() => heard.length === 1)
    assert.deepEqual(heard, [['open', { key, path: '/w/c.ts' }]])
  })

  it("marks a changed file that the agent didn't report", async () => {
    await show([])
    const files = [
      { path: '/w/a.ts', status: 'modified' as const, added: 0, removed: 0 },
      { path: '/w/b.ts', status: 'added' as const, uncertain: 'all' as const, added: 0, removed: 0 },
    ]
    await page.send('changes/shown', { key, files })
    await page.until(() => query('.changes'))
    await press('2 files')
    const rows = [...page.document.querySelectorAll('.changes-file')].map(row => row.textContent ?? '')
    assert.deepEqual(
      rows.map(row => row.includes('on disk during the turn')),
      [false, true],
    )
    assert.match(query('.changes-file + .changes-file .line')!.getAttribute('title')!, /or another program/)
  })

  it('shows the previous path of a renamed file', async () => {
    await show([])
    const files: bridge.ChangedFileNote[] = [
      { path: '/w/src/new.ts', from: '/w/old.ts', status: 'renamed', added: 0, removed: 0 },
    ]
    await page.send('changes/shown', { key, files })
    await page.until(() => query('.changes'))
    await press('1 file')
    assert.match(query('.changes-file')?.textContent ?? '', /Renamed: new\.ts.*was .*old\.ts/)
    await press('Revert Changes in new.ts')
    await page.until(() => heard.length === 1)
    assert.deepEqual(heard, [['undo', { key, path: '/w/src/new.ts' }]])
  })

  it("reports folders where changes by commands can't be detected", async () => {
    await show([])
    await page.send('changes/shown', { key, files: [], unseen: ['/w/home'] })
    await page.until(() => query('.changes'))
    assert.match(query('.changes-omitted')?.textContent ?? '', /commands made in home aren't tracked/)
  })

  it('names the current step of a plan and its number, even if its status is unknown, until all are done', async () => {
    const plan = (...statuses: string[]) => [
      {
        planId: 'p',
        entries: statuses.map(status => ({
          content: `It is ${status}`,
          priority: 'medium' as const,
          status,
        })),
      },
    ]
    const current = () => `${query('.plan-count')?.textContent}: ${query('.plan-current')?.textContent}`
    const activity = 'running'
    await show([], { activity, plans: plan('completed', 'blocked', 'pending') })
    await page.until(() => current() === '2 of 3: It is blocked')
    await show([], { activity, plans: plan('completed', 'blocked', 'in_progress') })
    await page.until(() => current() === '3 of 3: It is in_progress')
    await show([], { activity, plans: plan('completed', 'cancelled') })
    await page.until(() => current() === '2 of 2: All done')
    await show([], { activity: 'idle', plans: plan('completed', 'cancelled') })
    await page.until(() => !query('.plan'))
    await show([], { activity: 'idle', plans: plan('completed', 'pending') })
    await page.until(() => current() === '2 of 2: It is pending')
  })

  it('removes a finished plan with the next prompt, even if expanded, and keeps an unfinished one', async () => {
    const plan = (planId: string, status: string) => ({
      planId,
      entries: [{ content: planId, priority: 'medium' as const, status }],
    })
    const labels = () =>
      [...page.document.querySelectorAll('.plan')].map(one => one.getAttribute('aria-label'))
    const plans = [plan('sow', 'completed'), plan('reap', 'pending')]
    await show([], { activity: 'running', plans })
    await page.until(() => labels().join() === 'Plan 1 of 2,Plan 2 of 2')
    query('.plan .bar-line')!.click()
    await page.until(() => query('.plan-entry')?.textContent?.includes('sow'))
    // what the host sends when the next prompt starts a turn
    await page.send('conversation/patch', {
      revision: ++revision,
      ops: [{ op: 'head', head: { activity: 'running', plans: [plan('reap', 'pending')] } }],
    })
    await page.until(() => labels().join() === 'Plan' && query('.plan-current')?.textContent === 'reap')
    assert.equal(query('.plan-entry'), null, 'the unfinished plan was not expanded')
    await page.send('conversation/patch', {
      revision: ++revision,
      ops: [{ op: 'head', head: { plans: [] } }],
    })
    await page.until(() => labels().length === 0)
  })

  it('closes the bars in a short view while a request is pending, and reopens them afterward', async () => {
    const entries = [{ content: 'Do it', priority: 'medium', status: 'pending' }] as const
    const plans = [{ planId: 'p', entries: [...entries] }]
    const shown = () => query('.plan .bar-line')?.getAttribute('aria-expanded') === 'true'
    const toggle = () => query('.plan .bar-line')!.click()
    const resize = (innerHeight: number) => {
      Object.assign(page.window, { innerHeight })
      page.window.dispatchEvent(new page.window.Event('resize'))
    }
    await show([], { plans })
    await page.until(() => query('.plan'))
    toggle()
    await page.until(() => shown() && query('.plan-entry'))
    const asked = () => show([permission('q')], { plans, activity: 'requires_action' })
    await asked()
    await page.until(() => query('.permission.first'))
    assert.ok(shown(), 'there is room for both')
    resize(400)
    await page.until(() => !shown() && !query('.plan-entry'))
    toggle()
    await page.until(shown)
    toggle()
    await page.until(() => !shown())
    await show([], { plans })
    await page.until(shown)
    await asked()
    await page.until(() => !shown())
    resize(800)
    await page.until(shown)
  })

  it('toggles whether the editor follows', async () => {
    await show([], { sessionId: 's' })
    await press('Follow Agent in Editor')
    await page.until(() => heard.length === 1)
    assert.deepEqual(heard, [['follow', { on: true }]])
    await page.send('follow/shown', { on: true })
    await page.until(() => query('.follow-button')?.getAttribute('aria-pressed') === 'true')
  })

  it('shows which rule answered, with a link to it', async () => {
    const rule = { action: 'allow', scope: 'workspace', text: 'npm test *' } as const
    const answered = permission('p', { outcome: { type: 'selected', optionId: 'once' }, rule })
    await show([answered])
    await press('Allowed by your rule')
    await page.until(() => query('.answered-rule')?.textContent?.includes('npm test *'))
    await press('Open Workspace Settings')
    await page.until(() => heard.length === 1)
    assert.deepEqual(heard, [['rules', rule]])
  })

  it("shows suggested rules before they are saved, and explains why one wasn't saved", async () => {
    await show([
      toolCall('t', { toolKind: 'execute', title: 'npm test' }),
      permission('p', { toolCallId: 'call-t' }),
    ])
    await press('Create Rule…')
    await page.until(() => page.document.querySelectorAll('.permission-popup .field-choice').length === 2)
    assert.equal(query('.popup-buttons .primary')?.textContent, 'Save in User Settings')
    page.document.querySelectorAll<HTMLElement>('.permission-popup .field-choice input')[1]?.click()
    await page.until(() => query('.permission-popup')?.textContent?.includes('Two.'))
    assert.equal(query('.popup-buttons .primary')?.textContent, 'Save in Workspace Settings')
    saving = () => {
      throw new Error('The disk is full.')
    }
    await press('Save in User Settings')
    await page.until(() => query('.rule-failure')?.textContent?.includes('The disk is full.'))
    saving = undefined
    await press('Save in Workspace Settings')
    await page.until(() => !query('.permission-popup'))
    const [name, params] = heard.at(-1) as [string, object]
    assert.equal(name, 'save')
    assert.deepEqual(params, {
      key,
      requestId: (permission('p') as { requestId: string }).requestId,
      offer: 1,
      json: '{ "command": "npm *" }',
      target: 'workspace',
    })
    // typing a digit in a popup doesn't answer a request
    await press('Create Rule…')
    await page.until(() => query('.permission-popup .field-choice input'))
    page.key(query('.permission-popup .field-choice input')!, '1')
    assert.equal(heard.length, 1)
    await press('Cancel')
    await page.until(() => !query('.permission-popup'))
    assert.equal(page.document.activeElement?.textContent, 'Create Rule…')
  })

  it('names the tool and its server in a request, and says each text once', async () => {
    const text = (said: string) => ({
      type: 'content' as const,
      content: { type: 'text' as const, text: said },
    })
    const roots = { cwd: '/w', cwdLabel: 'project', additional: [], unseen: [], scratch: false }
    let at = 0
    const shown = async (
      tool: Parameters<typeof toolCall>[1],
      more: Parameters<typeof permission>[1] = {},
    ) => {
      const requestId = `shown ${++at}`
      const asked = permission('p', { toolCallId: 'call-t', title: tool?.title ?? '', requestId, ...more })
      await show([toolCall('t', { status: 'pending', ...tool }), asked], { roots })
      const asks = () => query(`.permission.first[data-request="${requestId}"]`)
      await page.until(asks)
      const box = asks()!
      return [box.getAttribute('aria-label'), box.querySelector('.card-title')?.textContent].concat(
        [...box.querySelectorAll('.card-text, .permission-subject > *')].map(one => one.textContent),
      )
    }
    const rawInput = { file: 'src/a.ts' }
    assert.deepEqual(await shown({ title: 'mcp__vscode__show_diff', rawInput }), [
      'Permission needed: show_diff of VS Code: src/a.ts',
      'Allow using show_diff of VS Code?',
      '{\n  "file": "src/a.ts"\n}',
    ])
    assert.deepEqual(
      await shown({ title: 'mcp__vault__read', toolName: 'mcp__vault__read', toolKind: 'read' }),
      ['Permission needed: read (vault)', 'Allow using read of vault?'],
    )
    assert.deepEqual(await shown({ title: 'echo (all MCP Server)', content: [text('{"message":"ping"}')] }), [
      'Permission needed: echo (all)',
      'Allow using echo of all?',
      '{\n  "message": "ping"\n}',
    ])
    // nanocoder, Gemini CLI, Grok
    const command = { command: 'npm test' }
    const once = [
      'Permission needed: execute_bash: npm test',
      'Allow running this command?',
      'npm test',
      'in project',
    ]
    assert.deepEqual(
      await shown({ title: 'execute_bash: npm test', toolKind: 'execute', rawInput: command }),
      once,
    )
    const said = 'npm test [current working directory /w] (Run the tests)'
    assert.deepEqual(
      (
        await shown({
          ...{ title: said, toolKind: 'execute', rawInput: command },
          content: [text('[current working directory /w]')],
        })
      ).slice(1),
      ['Allow running this command?', 'Run the tests', 'npm test', 'in project'],
    )
    assert.deepEqual(
      (await shown({ title: 'npm test', toolKind: 'execute', content: [text('[in src]')] })).slice(2),
      ['npm test', 'in src'],
    )
    assert.deepEqual(
      (
        await shown(
          {
            title: 'Execute `npm test`',
            toolKind: 'execute',
            rawInput: command,
            content: [text('It checks.')],
          },
          { title: 'Run the tests?', description: 'It checks.' },
        )
      ).slice(1),
      ['Run the tests?', 'It checks.', 'npm test', 'in project'],
    )
  })

  it('shows one request at a time, and collapses the others to a line', async () => {
    await show([0, 1, 2].map(at => permission(`p${at}`, { title: `Question ${at}` })))
    await page.until(() => query('.permission.first')?.textContent?.includes('1 of 3'))
    assert.equal(page.document.querySelectorAll('.permission.behind').length, 2)
    assert.match(
      page.document.querySelectorAll('.permission.behind')[1]?.textContent ?? '',
      /Question 2.*3 of 3/,
    )
    page.document.querySelectorAll<HTMLElement>('.permission.behind button')[1]?.click()
    await page.until(() => page.document.querySelectorAll('.permission.behind').length === 1)
    await page.send('conversation/patch', {
      revision: ++revision,
      ops: [
        {
          op: 'entry',
          index: 0,
          entry: permission('p0', { title: 'Question 0', outcome: { type: 'cancelled' } }),
        },
      ],
    })
    await page.until(() => query('.permission.first')?.textContent?.includes('1 of 2'))
    assert.match(query('.permission.first')?.getAttribute('aria-label') ?? '', /Question 1/)
  })
})
