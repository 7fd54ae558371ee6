import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { raceAbort, withTimeout } from '../../common/async.ts'
import { fileInput, offsetInput } from './find-symbol.ts'
import { at, tool } from './reading-tools.ts'
import type { ToolAnswer, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'
import { runSeenTask, secondsInput, TASK_SECONDS } from './window-tools.ts'

/** Characters of what VS Code's own tool answers. */
const MAX_RESULT = 1_000_000

const LIMITS =
  "VS Code gives extensions no test results, so this uses VS Code's own tool for agents where it has one, which may ask the user again, and the workspace's test task elsewhere, of which only the exit code and the output are known."

const runTests = tool({
  name: 'run_tests',
  title: 'Run tests',
  description: `Runs tests as the editor's Testing view does, or some of them, and tells which failed and why. ${LIMITS} The user is asked, unless a rule allows it.`,
  input: z.object({
    files: z
      .array(fileInput)
      .min(1)
      .max(50)
      .optional()
      .describe('Files with tests. Default: all. A test task always runs all'),
    names: z
      .array(z.string().min(1).max(500))
      .min(1)
      .max(50)
      .optional()
      .describe('Names of tests or suites. Default: all. A test task always runs all'),
    seconds: secondsInput,
    offset: offsetInput,
  }),
  async run({ files, names, seconds = TASK_SECONDS, offset }, context) {
    const { features, roots, signal } = context
    const paths = files && (await Promise.all(files.map(file => roots.file(file))))
    if (!(await features.hasTestTool('runTests')))
      return runTestTask(files !== undefined || names !== undefined, seconds, context)
    const conversation = await context.conversation()
    const what = [...(paths ?? []).map(path => roots.name(path)), ...(names ?? [])]
    const limit = new AbortController()
    const result = await conversation.permitted(
      {
        tool: 'run_tests',
        title: what.length === 0 ? l10n.t('Run all tests') : l10n.t('Run the tests {0}', what.join(', ')),
        kind: 'execute',
      },
      signal,
      async () => {
        const input = { ...(paths && { files: paths }), ...(names && { testNames: names }) }
        try {
          const ran = features.runTestTool('runTests', input, limit.signal).then(text => ({ text }))
          return await withTimeout(raceAbort(ran, signal), seconds * 1000)
        } finally {
          // cancels the tests if they still run
          limit.abort()
        }
      },
    )
    if (!result)
      throw new ToolError(
        `The tests didn't end within ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, so they were canceled. Call again with more "seconds", or run fewer.`,
      )
    return toAnswer("VS Code's own test tool answers:", result.text, offset)
  },
})

/** The task that is marked as the test task, or the only one of the group. */
async function runTestTask(isPart: boolean, seconds: number, context: ToolContext): Promise<ToolAnswer> {
  const tasks = (await context.features.tasks()).filter(({ group }) => group === 'test')
  const chosen = tasks.filter(({ isDefault }) => isDefault)
  const [task, ...others] = chosen.length > 0 ? chosen : tasks
  if (!task)
    throw new ToolError(
      'This VS Code has no tool that runs tests, and the workspace has no test task. Look for another task with "list_tasks", or run the tests in a terminal.',
    )
  if (others.length > 0)
    throw new ToolError(
      'This VS Code has no tool that runs tests, and the workspace has several test tasks. Run one of them with "run_task".',
      tasks.map(({ name, source, folder }) => [name, source, folder].filter(Boolean).join(', ')),
    )
  const { text: ended, data } = await runSeenTask('run_tests', task, seconds, context)
  const all = isPart ? ' It ran all tests, since a task knows neither files nor names.' : ''
  return {
    text: `Ran the workspace's test task, since this VS Code has no tool that runs tests. ${ended}${all}`,
    data,
  }
}

const testResults = tool({
  name: 'test_results',
  title: 'Test results',
  description: `The failures of the last test run in the editor's Testing view, also of one that the user started. ${LIMITS}`,
  input: z.object({ offset: offsetInput }),
  async run({ offset }, { features, signal }) {
    if (!(await features.hasTestTool('testFailure')))
      throw new ToolError(
        'This VS Code has no tool that tells test results. The exit code and output of a test task are in the answer of "run_tests".',
      )
    return toAnswer(
      "VS Code's own test tool answers:",
      await features.runTestTool('testFailure', {}, signal),
      offset,
    )
  },
})

function toAnswer(text: string, result: string, offset: number | undefined): ToolAnswer {
  if (result.trim() === '') return { text: "VS Code's own test tool answered nothing." }
  return { text, data: result.slice(0, MAX_RESULT), ...at(offset) }
}

export const testTools = [runTests, testResults]
