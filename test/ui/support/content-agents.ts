import type { IsolatedRoot } from '../../host/isolated-root.ts'
import { fixtureAgent } from './fixture-agent.ts'

const code = [
  'Take this:',
  '',
  '```js planets.js',
  "export const planets = ['Earth']",
  '```',
  '',
  'Done.',
].join('\n')
const before = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n')
const edit = {
  sessionUpdate: 'tool_call',
  toolCallId: 'edit',
  title: 'Edit planets.js',
  kind: 'edit',
  status: 'completed',
  content: [
    {
      type: 'diff',
      path: '$cwd/other.js',
      oldText: before,
      newText: before.replace('line 20', 'line twenty'),
    },
  ],
}
const rich = [
  'Let $x^2$ be, see `planets.js:2`:',
  '',
  '$$\\frac{a}{b}$$',
  '',
  '```mermaid',
  'graph LR',
  '  A[One] --> B["<b class=from-diagram>Two</b> <img class=from-diagram src=x>"]',
  '```',
  '',
  'That was all.',
].join('\n')

/** Agents that answer with code, with an edit, and with a formula and a diagram. */
export const contentAgents = (root: IsolatedRoot) => ({
  code: fixtureAgent(root, 'Coder', { prompt: [{ say: code }] }),
  edit: fixtureAgent(root, 'Editor', { prompt: [{ update: edit }, { say: 'Edited.' }] }),
  rich: fixtureAgent(root, 'Mathematician', { prompt: [{ say: rich }] }),
})
