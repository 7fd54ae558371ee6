import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { checkAgentCommand } from '../../../src/app/commands/check-agent-command.ts'
import { silentLogger } from '../../../src/common/logger.ts'

const FIXTURE = path.resolve('test/fixtures/conformance/agent.mjs')

describe('Check Agent…', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'parley-check-command-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** Runs the command for the fixture agent: what was shown, and what was started. */
  async function run({ answer, isTrusted = true }: { answer?: string; isTrusted?: boolean }) {
    const shown: string[] = []
    const options = {
      workbench: {
        isTrusted,
        dialogs: {
          confirm: async (text: string, { detail }: { detail: string }, ...buttons: string[]) => {
            shown.push(`asks: ${text} ${/up to \d prompts/.exec(detail)?.[0]} ${buttons.join('/')}`)
            return answer
          },
          progress: (
            _: object,
            work: (tell: (step: object) => void, signal: AbortSignal) => Promise<unknown>,
          ) => work(() => {}, new AbortController().signal),
        },
        editors: {
          openText: async (text: string, language: string) => void shown.push(`${language}: ${text}`),
        },
      },
      agents: {
        resolveLaunch: async () => {
          shown.push('starts')
          return {
            command: process.execPath,
            args: [FIXTURE, path.join(folder, 'state.json')],
            env: {},
            cwd: folder,
          }
        },
      },
      accounts: {},
      nameOf: () => 'Fixture',
      connectOptions: () => () => ({
        clientInfo: { name: 'test', title: 'Test', version: '1' },
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 1024 * 1024,
        log: silentLogger,
      }),
    } as unknown as Parameters<typeof checkAgentCommand>[0]
    await checkAgentCommand(options)['parley.checkAgent']('fixture')
    return shown
  }

  const question =
    'asks: Check whether Fixture follows the Agent Client Protocol? up to 3 prompts Check/Check Without Prompts'

  it('asks before it starts an agent and sends prompts', async () => {
    assert.deepEqual(await run({}), [question])
  })

  it('opens a report, without prompts if the user wants none', async () => {
    const [asked, started, document = '', ...others] = await run({ answer: 'Check Without Prompts' })
    assert.deepEqual([asked, started, others], [question, 'starts', []])
    assert.match(document, /^markdown: # Check of conformance-fixture 1\.0\.0\n/)
    assert.match(document, /\nChecked without prompts\.\n/)
    assert.match(document, /\n\| Creates sessions \| ✔ passed \|\n/)
    assert.match(
      document,
      /\n\| Answers a prompt and says why the turn ended \| \? not checked: It needs a prompt\. \|\n/,
    )
  })

  it('starts nothing in Restricted Mode', async () => {
    await assert.rejects(run({ isTrusted: false, answer: 'Check' }), { name: 'UnavailableError' })
  })
})
