import assert from 'node:assert/strict'
import { type RuleCommandOptions, ruleCommands } from '../../../src/app/commands/rule-commands.ts'
import { CommandId } from '../../../src/app/ids.ts'
import type { InputOptions, PickItem } from '../../../src/app/workbench.ts'
import { SessionAllowance } from '../../../src/sessions/permission-rules/session-allowance.ts'

describe('Manage Permission Rules', () => {
  /** Chooses items by their labels, one after the other, and types what starts with `>`. Returns what was listed and refused. */
  const run = async (allowance: SessionAllowance | undefined, ...answers: string[]) => {
    const added: unknown[] = []
    const accepted: unknown[] = []
    const listed: string[][] = []
    const refused: string[] = []
    await ruleCommands({
      rules: { list: () => [] },
      consent: { accept: (rules: unknown) => accepted.push(rules), counts: () => true },
      hasWorkspace: () => true,
      settings: { add: async (...rule: unknown[]) => void added.push(rule) },
      session: () => allowance && { allowance },
      nameOf: String,
      dialogs: {
        pick: async (items: readonly PickItem[]) => {
          listed.push(items.map(({ label, description = '' }) => [label, description].join('|')))
          const answer = answers.shift()
          return items.find(({ label }) => label === answer)
        },
        input: async ({ validate }: InputOptions) => {
          for (;;) {
            const text = answers.shift()?.slice(1)
            const problem = text === undefined ? undefined : await validate?.(text)
            if (problem === undefined) return text
            refused.push(problem)
          }
        },
      },
    } as unknown as RuleCommandOptions)[CommandId.managePermissionRules]()
    return { added, accepted, listed, refused }
  }

  it('adds a rule for the displayed session alone, changes it and removes it', async () => {
    const allowance = new SessionAllowance()
    const { added, accepted, listed } = await run(
      allowance,
      ...['Add Rule…', 'A Command', '> npm test ** ', 'Allow', 'Only in This Session'],
      ...['Commands that start with npm test: anything npm can do', 'Reject'],
    )
    assert.deepEqual([added, accepted], [[], []])
    assert.deepEqual(
      allowance.rules.map(({ source, scope }) => [source, scope]),
      [[{ command: 'npm test **', action: 'reject' }, 'session']],
    )
    assert.deepEqual(listed[0], ['Add Rule…|'])
    assert.deepEqual(listed[4], [
      'Commands that start with npm test: anything npm can do|Allow · This session · All agents',
      'Add Rule…|',
    ])
    assert.deepEqual(listed[5], ['Allow|Current', 'Ask|', 'Reject|', 'Remove|'])
  })

  it('changes a rule with * that allows nothing to one that allows anything the program can do', async () => {
    const allowance = new SessionAllowance()
    allowance.add({ agent: 'one', command: 'npm test *', action: 'allow' })
    const { listed } = await run(
      allowance,
      'Nothing: write ** instead of * for anything npm can do',
      'Allow Anything the Program Can Do',
    )
    assert.match(listed[0]?.[0] ?? '', /^Nothing: .*\|npm test \* · Allow/)
    assert.ok(listed[1]?.includes('Allow Anything the Program Can Do|npm test **'))
    assert.deepEqual(
      allowance.rules.map(({ source }) => source),
      [{ agent: 'one', command: 'npm test **', action: 'allow' }],
    )
  })

  it('adds a rule to the settings, which counts as accepted there', async () => {
    for (const [place, target] of [
      ['In User Settings', 'user'],
      ['In Workspace Settings', 'workspace'],
    ] as const) {
      const rule = { kind: 'edit', path: 'src/**', action: 'allow' }
      const { added, accepted, listed } = await run(
        undefined,
        ...['Add Rule…', 'Edits of Files', '>src/**', 'Allow', place],
      )
      assert.deepEqual([added, accepted], [[[rule, target]], [[rule]]])
      assert.deepEqual(listed[3], ['In Workspace Settings|', 'In User Settings|'])
    }
  })

  it('says what is wrong with a rule while it is typed', async () => {
    const { refused, added } = await run(
      undefined,
      ...['Add Rule…', 'A Command', '>  ', '>npm test && rm x', '>npm test', 'Ask', 'In User Settings'],
    )
    assert.equal(refused.length, 2)
    assert.match(refused[1]!, /without shell operators/)
    assert.deepEqual(added, [[{ command: 'npm test', action: 'ask' }, 'user']])
    const outside = await run(undefined, 'Add Rule…', 'Reading Files', '>../x', '>src/**')
    assert.match(outside.refused[0]!, /within the session's folders/)
  })

  it('turns off the switch of the session, which is listed as a rule', async () => {
    const allowance = new SessionAllowance()
    allowance.allow('edits')
    const { listed } = await run(allowance, 'Accept Edits', 'Turn Off')
    assert.equal(allowance.allowed, 'ask')
    assert.deepEqual(listed[1], ['Allow|Current', 'Turn Off|'])
  })

  it('adds nothing if a step is canceled', async () => {
    for (const answers of [
      ['Add Rule…'],
      ['Add Rule…', 'A Command'],
      ['Add Rule…', 'A Command', '>npm test'],
      ['Add Rule…', 'A Command', '>npm test', 'Allow'],
    ])
      assert.deepEqual((await run(undefined, ...answers)).added, [])
  })
})
