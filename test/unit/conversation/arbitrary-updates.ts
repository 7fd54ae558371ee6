/** Random updates with only a few ids, so that they affect each other. */
import fc from 'fast-check'
import type { ContentBlock, MessageRole, SessionUpdate, ToolCallContent } from '../../../src/acp/model.ts'
import type { LocalEvent } from '../../../src/conversation/reducer/reduce-local.ts'

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ' ', '\n', 'hello', 'hello there', '😀', '\ud83d', '\ude00'),
)
const role = fc.constantFrom<MessageRole>('user', 'agent', 'thought')
const messageId = fc.option(fc.constantFrom('m1', 'm2', 'm3', '__proto__'), { nil: undefined })

export const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  { weight: 6, arbitrary: words.map((value): ContentBlock => ({ type: 'text', text: value })) },
  fc.constant<ContentBlock>({ type: 'image', data: 'AA==', mimeType: 'image/png' }),
  fc.constant<ContentBlock>({ type: 'resource_link', uri: 'file:///a', name: 'a' }),
  fc.constant<ContentBlock>({
    type: 'resource_link',
    uri: 'file:///b',
    name: 'b',
    lastModified: 1_736_694_058_000,
    icons: [{ src: 'data:image/png;base64,AAAA', theme: 'dark' }],
  }),
  fc.constant<ContentBlock>({
    type: 'resource',
    uri: 'file:///c',
    text: 'c',
    isImportant: true,
    agentOnly: true,
  }),
  fc.constant<ContentBlock>({ type: 'unknown', kind: 'hologram', raw: { a: 1 } }),
)
const toolContent: fc.Arbitrary<ToolCallContent> = fc.oneof(
  block.map((content): ToolCallContent => ({ type: 'content', content })),
  fc.constant<ToolCallContent>({ type: 'terminal', terminalId: 'x1' }),
  fc.constant<ToolCallContent>({
    type: 'diff',
    changes: [{ operation: 'modify', path: '/a', oldText: 'a', newText: 'b' }],
  }),
)
const cleared = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

const toolCall = fc.record(
  {
    toolCallId: fc.constantFrom('t1', 't2', 't3'),
    parentId: fc.constantFrom('t1', 't2', 't9'),
    title: cleared(words),
    name: cleared(words),
    kind: cleared(fc.constantFrom('read', 'edit', 'brew_tea')),
    status: cleared(
      fc.constantFrom('pending', 'in_progress', 'paused', 'completed', 'failed', 'cancelled', '_odd'),
    ),
    content: cleared(fc.array(toolContent, { maxLength: 3 })),
    locations: cleared(fc.array(fc.constant({ path: '/a', line: 3 }), { maxLength: 2 })),
    rawInput: fc.jsonValue(),
    rawOutput: fc.jsonValue(),
    canCancel: cleared(fc.boolean()),
  },
  { requiredKeys: ['toolCallId'] },
)

const stopReason = fc.constantFrom('end_turn', 'cancelled', 'max_tokens', 'refusal', 'error', '_own')

/** A piece of an answer that contains thoughts. */
const tagged = fc
  .array(fc.constantFrom('<think>', '</think>', '<th', 'ink>', '`', '\n', 'a'), { maxLength: 6 })
  .map((parts): ContentBlock => ({ type: 'text', text: parts.join('') }))

export const update: fc.Arbitrary<SessionUpdate> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('message_chunk' as const),
      role: fc.constant('agent' as const),
      messageId,
      content: tagged,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ type: fc.constant('message_chunk' as const), role, messageId, content: block }),
  },
  fc.record(
    {
      type: fc.constant('message' as const),
      role,
      messageId: fc.constantFrom('m1', 'm2', 'm3'),
      content: cleared(fc.array(block, { maxLength: 3 })),
    },
    { requiredKeys: ['type', 'role', 'messageId'] },
  ),
  { weight: 4, arbitrary: toolCall.map((patch): SessionUpdate => ({ type: 'tool_call', toolCall: patch })) },
  toolCall.map((patch): SessionUpdate => ({ type: 'tool_call', toolCall: patch, isNew: true })),
  fc.record({
    type: fc.constant('tool_call_content' as const),
    toolCallId: fc.constantFrom('t1', 't2', 't4'),
    content: toolContent,
  }),
  fc.record({
    type: fc.constant('terminal' as const),
    terminal: fc.record(
      {
        terminalId: fc.constantFrom('x1', 'x2'),
        command: cleared(words),
        cwd: cleared(words),
        output: cleared(words),
        exit: cleared(fc.record({ exitCode: cleared(fc.nat(255)) })),
        size: cleared(fc.record({ cols: fc.nat(300), rows: fc.nat(100) })),
        canCancel: cleared(fc.boolean()),
      },
      { requiredKeys: ['terminalId'] },
    ),
  }),
  fc.record({
    type: fc.constant('terminal_output' as const),
    terminalId: fc.constantFrom('x1', 'x2', 'x3'),
    text: words,
  }),
  fc.record({
    type: fc.constant('plan' as const),
    plan: fc.record({
      planId: fc.constantFrom('a', 'b'),
      entries: fc.array(
        fc.record({ content: words, priority: fc.constant('high'), status: fc.constant('pending') }),
        {
          maxLength: 3,
        },
      ),
    }),
  }),
  fc.record({ type: fc.constant('plan_removed' as const), planId: fc.constantFrom('a', 'b') }),
  fc.record({
    type: fc.constant('commands' as const),
    commands: fc.array(fc.record({ name: words, description: words }), { maxLength: 3 }),
  }),
  fc.constantFrom<SessionUpdate>(
    { type: 'message_end' },
    {
      type: 'config_options',
      options: [
        {
          type: 'select',
          id: 'mode',
          name: 'Mode',
          category: 'mode',
          currentValue: 'ask',
          choices: [{ value: 'ask', name: 'Ask' }],
        },
        { type: 'boolean', id: 'web', name: 'Web', currentValue: false },
        { type: 'unknown', id: 'dial', name: 'Dial', raw: {} },
      ],
    },
    { type: 'config_options', options: [] },
    { type: 'config_value', category: 'mode', value: 'code' },
    { type: 'usage', usage: { used: 1, size: 2 } },
  ),
  fc.record(
    {
      type: fc.constant('info' as const),
      title: cleared(words),
      updatedAt: cleared(fc.oneof(words, fc.constant('2026-11-20T09:33:09.874572231Z'))),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constant('notice' as const), severity: fc.constant('info'), title: words }),
  fc.record(
    {
      type: fc.constant('compaction' as const),
      compactionId: fc.constantFrom('c1', 'c2'),
      status: fc.constantFrom('in_progress', 'completed', 'failed', '_odd'),
      summary: cleared(fc.array(block, { maxLength: 2 })),
      error: cleared(words),
    },
    { requiredKeys: ['type', 'compactionId', 'status'] },
  ),
  fc.record({
    type: fc.constant('compaction_chunk' as const),
    compactionId: fc.constantFrom('c1', 'c3'),
    content: block,
  }),
  fc
    .record(
      {
        sessionId: fc.constantFrom('child', 'other'),
        title: cleared(words),
        description: cleared(words),
        state: cleared(
          fc.record(
            {
              activity: fc.constantFrom('running', 'idle', 'requires_action', 'unknown', '_odd'),
              stopReason,
              error: fc.constant({ code: -32603, message: 'broken' }),
            },
            { requiredKeys: ['activity'] },
          ),
        ),
        canCancel: cleared(fc.boolean()),
        cwd: cleared(words),
        additionalDirectories: cleared(fc.array(fc.constant('/a'), { maxLength: 2 })),
      },
      { requiredKeys: ['sessionId'] },
    )
    .map((subagent): SessionUpdate => ({ type: 'subagent', subagent })),
  fc
    .record(
      {
        messageId: fc.constantFrom('m1', 's1'),
        from: cleared(fc.constantFrom('child', 's')),
        to: cleared(fc.constantFrom('child', 's')),
        fromMessageId: cleared(words),
        toMessageId: cleared(words),
        content: cleared(fc.array(block, { maxLength: 2 })),
      },
      { requiredKeys: ['messageId'] },
    )
    .map((message): SessionUpdate => ({ type: 'session_message', message })),
  fc.record({
    type: fc.constant('session_message_chunk' as const),
    messageId: fc.constantFrom('m1', 's2'),
    content: block,
  }),
  {
    weight: 2,
    arbitrary: fc.record(
      {
        type: fc.constant('state' as const),
        state: fc.constantFrom('running', 'requires_action', '_odd'),
        background: fc.array(fc.constantFrom('t1', 't2'), { maxLength: 2 }),
        backgroundTerminals: fc.array(fc.constantFrom('x1', 'x2'), { maxLength: 2 }),
        backgroundSubagents: fc.array(fc.constantFrom('child', 'other'), { maxLength: 2 }),
        backgroundOthers: fc.nat({ max: 3 }),
      },
      { requiredKeys: ['type', 'state'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        type: fc.constant('state' as const),
        state: fc.constant('idle' as const),
        stopReason,
        error: fc.constant({ code: -32603, message: 'broken' }),
        background: fc.array(fc.constantFrom('t1', 't2'), { maxLength: 2 }),
        backgroundTerminals: fc.array(fc.constantFrom('x1', 'x2'), { maxLength: 2 }),
        backgroundSubagents: fc.array(fc.constantFrom('child', 'other'), { maxLength: 2 }),
        backgroundOthers: fc.nat({ max: 3 }),
        tokens: fc.constant({ of: 'turn' as const, total: 3, input: 2, output: 1 }),
      },
      { requiredKeys: ['type', 'state'] },
    ),
  },
  fc.record({ type: fc.constant('unknown' as const), kind: words, raw: fc.jsonValue() }),
)

const requestId = fc.constantFrom('p1', 'p2', 'p3')
const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]

/** Request ids are unique and come from the session: `ask` creates them. */
const local: fc.Arbitrary<LocalEvent> = fc.oneof(
  fc.array(block, { minLength: 1, maxLength: 3 }).map((content): LocalEvent => ({ type: 'prompt', content })),
  fc.constantFrom('m1', 'm4').map((id): LocalEvent => ({ type: 'prompt_accepted', messageId: id })),
  fc
    .record({
      sessionId: fc.constantFrom('s', 'child'),
      title: words,
      subject: fc.oneof(
        toolCall.map(patch => ({ type: 'tool_call' as const, toolCall: patch })),
        fc.record(
          {
            type: fc.constant('command' as const),
            command: words,
            cwd: words,
            toolCallId: fc.constantFrom('t1', 't5'),
          },
          { requiredKeys: ['type', 'command'] },
        ),
        fc.constant({ type: 'none' as const }),
        fc.constant({ type: 'unknown' as const, kind: 'x', raw: 1 }),
      ),
    })
    .map(
      (asked): LocalEvent => ({
        type: 'permission_asked',
        requestId: 'p',
        request: { options, ...asked },
      }),
    ),
  requestId.map(
    (id): LocalEvent => ({
      type: 'request_answered',
      requestId: id,
      outcome: { type: 'selected', optionId: 'yes' },
    }),
  ),
  fc.constantFrom<LocalEvent>(
    { type: 'config_option', optionId: 'mode', value: 'code' },
    { type: 'config_option', optionId: 'web', value: true },
    { type: 'config_option', optionId: 'web', value: 'no boolean' },
    { type: 'load_finished' },
    { type: 'agent_gone', message: 'gone', code: 1 },
    { type: 'agent_gone' },
  ),
)

/** `within`: the session of a subagent, known or not. */
export type SessionEvent =
  | { from: 'agent'; update: SessionUpdate; within?: string }
  | { from: 'client'; event: LocalEvent }

export const eventSequences: fc.Arbitrary<SessionEvent[]> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: update.map((value): SessionEvent => ({ from: 'agent', update: value })) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(update, fc.constantFrom('child', 'other', 'stranger'))
          .map(([value, within]): SessionEvent => ({ from: 'agent', update: value, within })),
      },
      { weight: 1, arbitrary: local.map((event): SessionEvent => ({ from: 'client', event })) },
    ),
    { maxLength: 60, size: 'max' },
  )
  .map(list => {
    let asked = 0
    return list.map(item => {
      if (item.from !== 'client' || item.event.type !== 'permission_asked') return item
      asked += 1
      return { ...item, event: { ...item.event, requestId: `p${asked}` } }
    })
  })
