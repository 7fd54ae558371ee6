import assert from 'node:assert/strict'
import type { ConfigOption } from '../../../../src/acp/model.ts'
import { readStart, SessionOptions } from '../../../../src/acp/wire/session.ts'

const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask', description: 'Asks first' },
    { id: 'auto', name: 'Auto' },
  ],
}
const MODELS = {
  currentModelId: 'big',
  availableModels: [{ modelId: 'big', name: 'Big' }, { modelId: 'small' }],
}
const MODEL_OPTION = {
  id: 'model',
  name: 'Model',
  category: 'model',
  type: 'select',
  currentValue: 'big',
  options: [
    { value: 'big', name: 'Big' },
    { value: 'small', name: 'Small' },
  ],
}

function started(raw: unknown): { options: SessionOptions; problems: string[] } {
  const problems: string[] = []
  const options = new SessionOptions(problem => problems.push(problem))
  options.start(readStart(raw))
  return { options, problems }
}

const byId = (options: ConfigOption[] | undefined, id: string) => options?.find(option => option.id === id)

describe('the options of a v1 session', () => {
  it("are empty if the agent doesn't report any", () => {
    for (const raw of [null, undefined, {}, [], 'x', { modes: null, configOptions: null }]) {
      assert.equal(started(raw).options.all, undefined)
    }
  })

  it('have names and descriptions that a view can show, without half a character at the end', () => {
    const long = `${'x'.repeat(4095)}😀${'Q'.repeat(1_000_000)}`
    const cut = `${'x'.repeat(4095)}…`
    const choice = { value: 'a', name: long, description: long }
    const select = { id: 'o', name: long, description: long, type: 'select', currentValue: 'a' }
    const { options } = started({
      configOptions: [{ ...select, options: [{ group: 'g', name: long, options: [choice] }] }],
      modes: { currentModeId: 'm', availableModes: [{ id: 'm', name: long, description: long }] },
    })
    const shown = JSON.stringify(options.all)
    assert.deepEqual([shown.split(cut).length - 1, shown.includes('Q')], [7, false])
  })

  it('are those that the agent reports', () => {
    const { options, problems } = started({
      configOptions: [
        MODEL_OPTION,
        { id: 'fast', name: 'Fast', type: 'boolean', currentValue: true, description: 'd' },
        { id: 'odd', name: 'Odd', type: 'slider', currentValue: 5 },
        {
          id: 'grouped',
          name: 'Grouped',
          type: 'select',
          currentValue: 'b',
          options: [
            { group: 'g1', name: 'First', options: [{ value: 'a', name: 'A' }] },
            { group: 'g2', options: [{ value: 'b' }, { name: 'no value' }] },
          ],
        },
        { name: 'without an id' },
      ],
    })
    assert.deepEqual(options.all, [
      {
        id: 'model',
        name: 'Model',
        category: 'model',
        type: 'select',
        currentValue: 'big',
        choices: [
          { value: 'big', name: 'Big' },
          { value: 'small', name: 'Small' },
        ],
      },
      { id: 'fast', name: 'Fast', description: 'd', type: 'boolean', currentValue: true },
      {
        id: 'odd',
        name: 'Odd',
        type: 'unknown',
        raw: { id: 'odd', name: 'Odd', type: 'slider', currentValue: 5 },
      },
      {
        id: 'grouped',
        name: 'Grouped',
        type: 'select',
        currentValue: 'b',
        choices: [
          { value: 'a', name: 'A', group: 'First' },
          { value: 'b', name: 'b', group: 'g2' },
        ],
      },
    ])
    assert.equal(problems.length, 2)
  })

  it('are created from modes and legacy models', () => {
    const { options } = started({ modes: MODES, models: MODELS })
    assert.deepEqual(
      options.all?.map(({ name, category, type }) => ({ name, category, type })),
      [
        { name: 'Mode', category: 'mode', type: 'select' },
        { name: 'Model', category: 'model', type: 'select' },
      ],
    )
    const [mode, model] = options.all ?? []
    assert.deepEqual(mode?.type === 'select' && [mode.currentValue, mode.choices], [
      'ask',
      [
        { value: 'ask', name: 'Ask', description: 'Asks first' },
        { value: 'auto', name: 'Auto' },
      ],
    ])
    assert.deepEqual(options.route(mode?.id ?? '', 'auto'), {
      method: 'session/set_mode',
      params: { modeId: 'auto' },
    })
    assert.deepEqual(options.route(model?.id ?? '', 'small'), {
      method: 'session/set_model',
      params: { modelId: 'small' },
    })
  })

  it('contain only one for each purpose, preferably the config option', () => {
    const same: unknown[] = [
      { id: 'model', name: 'Model', type: 'select', currentValue: 'big', options: [] },
      { ...MODEL_OPTION, id: 'x', category: 'model' },
      { ...MODEL_OPTION, id: 'x', category: undefined },
    ]
    for (const option of same) {
      const { options } = started({ models: MODELS, modes: MODES, configOptions: [option] })
      assert.equal(options.all?.length, 2, JSON.stringify(option))
      assert.equal(options.all?.[1]?.category, 'mode')
    }
    const { options } = started({ models: MODELS, configOptions: [MODEL_OPTION] })
    assert.deepEqual(options.route('model', 'small'), {
      method: 'session/set_config_option',
      params: { configId: 'model', value: 'small' },
    })
    assert.deepEqual(options.route('fast', true), {
      method: 'session/set_config_option',
      params: { configId: 'fast', type: 'boolean', value: true },
    })
  })

  it("show a current value that isn't among the choices", () => {
    const { options } = started({ models: { ...MODELS, currentModelId: 'secret' } })
    const [model] = options.all ?? []
    assert.deepEqual(model?.type === 'select' && model.choices.map(choice => choice.value), [
      'secret',
      'big',
      'small',
    ])
    assert.equal(model?.type === 'select' && model.currentValue, 'secret')
  })

  it('can have hundreds of values', () => {
    const availableModels = Array.from({ length: 384 }, (_, i) => ({
      modelId: `https://models.test/${i}`,
      name: `M${i}`,
    }))
    const { options } = started({ models: { currentModelId: 'https://models.test/383', availableModels } })
    const [model] = options.all ?? []
    assert.equal(model?.type === 'select' && model.choices.length, 384)
  })

  it('change with an update, which may contain all or only the mode', () => {
    const { options } = started({ modes: MODES, configOptions: [MODEL_OPTION] })
    assert.deepEqual(options.modeChanged('auto'), { type: 'config_value', category: 'mode', value: 'auto' })
    const update = options.replace([{ ...MODEL_OPTION, currentValue: 'small' }])
    assert.ok(update.type === 'config_options')
    const model = byId(update.options, 'model')
    assert.equal(model?.type === 'select' && model.currentValue, 'small')
    // the mode isn't in the update, and is kept with its new value
    const mode = update.options.find(option => option.category === 'mode')
    assert.equal(mode?.type === 'select' && mode.currentValue, 'auto')
  })

  it('are also updated by a mode update if the mode is a config option', () => {
    const { options } = started({
      configOptions: [
        {
          id: 'm',
          name: 'Mode',
          category: 'mode',
          type: 'select',
          currentValue: 'a',
          options: [{ value: 'a' }, { value: 'b' }],
        },
      ],
    })
    options.modeChanged('b')
    const mode = byId(options.all, 'm')
    assert.equal(mode?.type === 'select' && mode.currentValue, 'b')
  })

  it("are reported by Parley after a value was set only if the agent doesn't report them", () => {
    const { options } = started({ modes: MODES, configOptions: [MODEL_OPTION] })
    const mode = options.all?.find(option => option.category === 'mode')
    assert.ok(mode)
    const reported = options.confirm(mode.id, 'auto', false)
    assert.ok(reported?.type === 'config_options')
    const set = byId(reported.options, mode.id)
    assert.equal(set?.type === 'select' && set.currentValue, 'auto')
    assert.equal(options.confirm(mode.id, 'auto', false), undefined)

    options.replace([{ ...MODEL_OPTION, currentValue: 'small' }])
    assert.equal(options.confirm('model', 'small', false), undefined)
    // the response contains all options, with another value
    assert.equal(options.confirm('model', 'big', true), undefined)
    const own = options.confirm('model', 'big', false)
    assert.ok(own?.type === 'config_options')
    const model = byId(own.options, 'model')
    assert.equal(model?.type === 'select' && model.currentValue, 'big')
    assert.equal(options.confirm('never told', 'x', false), undefined)
  })

  it('are kept if a later response omits them', () => {
    const { options } = started({ modes: MODES })
    options.start(readStart({}))
    assert.equal(options.all?.length, 1)
  })
})
