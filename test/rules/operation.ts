import type { RuleList } from './rule.ts'

const everyOption = 'test/trpc/every-option.test.ts'
const mapping = { file: 'src/core/options/rules.test.ts', test: 'with %s' } as const
const form = 'test/browser/settings.test.ts'
const models = 'test/trpc/models.test.ts'
const logs = 'test/trpc/logs.test.ts'
const lists = 'test/trpc/channels-lists.test.ts'
const upstream = 'test/trpc/channels-upstream.test.ts'
const propagation = {
  file: 'test/relay/price-changes.test.ts',
  test: 'comes into force on every node at its instant by the database’s clock, and is stored once',
} as const

export const rules: RuleList = {
  title: 'Models, settings and operation',
  sections: {
    'Every option': [
      ...['the procedure', 'the documented path', 'the form of the settings page'].map((way) => ({
        rule: `Every option is set through ${way}, and goes back to its default.`,
        asserts: way,
        file: everyOption,
        test: 'is set through %s, stands in the database, is in force at once, and goes back',
      })),
      {
        rule: 'A bad value is refused in the same words by all three, and changes nothing.',
        file: everyOption,
        test: 'is refused by the procedure, the documented path and the form in the same words, and changes nothing',
      },
      {
        rule: 'A fallback is one price, or both ratios.',
        message: '请检查兜底倍率配置：使用单次价格时不能设置倍率，使用倍率时需要同时设置输入和补全倍率',
        asserts: 'option.fallback_pricing',
        file: 'test/trpc/options.test.ts',
        test: 'saves what it can and says of the rest why not',
      },
      {
        rule: 'Saving what is unchanged says so.',
        message: '你似乎并没有修改什么',
        file: form,
        test: 'asks before password login is switched off, and leaves it on without consent',
      },
      {
        rule: 'What was changed and saved is said to be.',
        message: '保存成功',
        file: form,
        test: 'keeps unsaved changes across tabs, saves them together, and the site shows them at once',
      },
    ],
    'Model mapping': [
      { rule: 'A virtual name is needed.', message: '请输入虚拟模型名', asserts: 'mapping.name_required', ...mapping },
      {
        rule: 'A virtual name is given once.',
        message: '虚拟模型名 {name} 已存在',
        asserts: 'mapping.name_taken',
        ...mapping,
      },
      {
        rule: 'A virtual name stands for a model at least.',
        message: '至少需要配置一个实际模型',
        asserts: 'mapping.entries_required',
        ...mapping,
      },
      { rule: 'A model has a name.', message: '请输入实际模型名', asserts: 'mapping.model_required', ...mapping },
      {
        rule: 'A model stands in a mapping once.',
        message: '实际模型名重复',
        asserts: 'mapping.model_duplicate',
        ...mapping,
      },
      {
        rule: 'Priorities and weights are whole numbers of at least 0.',
        message: '优先级和权重必须是不小于 0 的整数',
        asserts: 'mapping.priority_invalid',
        ...mapping,
      },
      {
        rule: 'A mapping that cannot be read is not loaded.',
        message: '重新加载失败',
        asserts: 'mapping.unreadable',
        file: 'test/trpc/options.test.ts',
        test: 'cannot be reloaded when the stored text is broken',
      },
    ],
    'Model prices': [
      {
        rule: 'A price per call and ratios exclude each other.',
        file: models,
        test: 'lets a price per call and ratios exclude each other',
      },
      {
        rule: 'An emptied output or cache price is taken away, and the others stay.',
        file: models,
        test: 'takes away a further ratio that is said to be none, alone',
      },
      {
        rule: 'Of two who change the buying prices of a channel, the second is told.',
        message: '该渠道的进价已被其他人修改，未保存；请核对后再次保存',
        asserts: 'prices.buying_changed_meanwhile',
        file: models,
        test: 'refuses buying prices that somebody else has changed since they were read',
      },
      {
        rule: 'Many prices set at once are all kept.',
        file: models,
        test: 'keeps all of many prices set at once',
      },
      {
        rule: 'A model without a price is named, whether it may be called or not.',
        file: models,
        test: 'are named where no table prices them, even while they may be called',
      },
      { rule: 'A changed price holds on every node, for whole calls.', ...propagation },
    ],
    'Hostile input': [
      {
        rule: 'A secret does not follow its address to another host, by whichever door.',
        file: 'test/trpc/options.test.ts',
        test: '%s does not follow %s to another address, by whichever door',
      },
      {
        rule: 'Parameters of every documented list are values, never a part of a statement.',
        file: 'test/rest/sql-sweep.test.ts',
        test: 'GET %s takes whatever stands in a parameter as a value',
      },
      {
        rule: 'So are the inputs of every query, and headers.',
        file: 'test/rest/sql-sweep.test.ts',
        test: 'the query %s takes whatever stands in its input as a value',
      },
      {
        rule: 'Pages that nobody should ask for are a page, or refused.',
        file: 'test/rest/paging-abuse.test.ts',
        test: 'are answered by every documented path with a page, or refused',
      },
      {
        rule: 'A question of a table that grows without end is given up after some seconds.',
        file: 'test/rest/paging-abuse.test.ts',
        test: 'wait no longer than some seconds for a table that grows without end',
      },
      {
        rule: 'Footer, home page, about page and notice are cleaned, and cover nothing.',
        file: 'test/browser/hostile-text.test.ts',
        test: 'the footer, the home page, the about page and the notice are cleaned, and cover nothing',
      },
      {
        rule: 'Names, tags, models, log rows and errors of upstreams are shown as they are written.',
        file: 'test/browser/hostile-text.test.ts',
        test: 'names, tags, models, log rows and the errors of upstreams are shown as they are written',
      },
    ],
    'Pages of the console': [
      {
        rule: 'Every page of root can be used on a phone, speaks English alone and reports no error.',
        file: 'test/browser/screens.test.ts',
        test: 'can be used by everyone on a phone, speak English alone, fit their window and report no error',
      },
    ],
    'Under load and in doubt': [
      {
        rule: 'Of two orders to clear the log one is done as it says, and the other refused.',
        asserts: 'job.running',
        file: logs,
        test: 'in the background is done for one of two orders placed at once, as that one says, and the other is refused',
      },
      {
        rule: 'Thousands of channels are changed in portions that hold nobody else up.',
        asserts: '450',
        file: lists,
        test: 'are held in portions: who waits for one of thousands does not keep the others',
      },
      {
        rule: 'A test, a balance and a list of models use a key that is on.',
        asserts: 'sk-key-two',
        file: upstream,
        test: 'is sent with the first key that is on, else with one that went off by itself, before what a person switched off',
      },
      {
        rule: 'A call for a model that nobody has costs no walk over all channels.',
        asserts: 'isListed',
        file: 'test/relay/large-channel-table.test.ts',
        test: 'ten thousand channels of a hundred models are read, compared and changed without blocking the event loop',
      },
      {
        rule: 'Models that nobody calls any more leave the metrics.',
        file: 'src/features/metrics/service.test.ts',
        test: 'a model that nobody has called for an hour gives its place to another one, with all that was counted of it',
      },
    ],
  },
}
