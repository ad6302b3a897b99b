import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Models, settings and operation',
  sections: {
    'Every option': {
      'test/trpc/every-option.test.ts': {
        'is set through %s, stands in the database, is in force at once, and goes back': [
          {
            rule: 'Every option is set through the procedure, and goes back to its default.',
            asserts: 'the procedure',
          },
          {
            rule: 'Every option is set through the documented path, and goes back to its default.',
            asserts: 'the documented path',
          },
          {
            rule: 'Every option is set through the form of the settings page, and goes back to its default.',
            asserts: 'the form of the settings page',
          },
        ],
        'is refused by the procedure, the documented path and the form in the same words, and changes nothing':
          'A bad value is refused in the same words by all three, and changes nothing.',
      },
      'test/trpc/options.test.ts': {
        'saves what it can and says of the rest why not': {
          rule: 'A fallback is one price, or both ratios.',
          message: '请检查兜底倍率配置：使用单次价格时不能设置倍率，使用倍率时需要同时设置输入和补全倍率',
          asserts: 'option.fallback_pricing',
        },
      },
      'test/browser/settings.test.ts': {
        'asks before password login is switched off, and leaves it on without consent': {
          rule: 'Saving what is unchanged says so.',
          message: '你似乎并没有修改什么',
        },
        'keeps unsaved changes across tabs, saves them together, and the site shows them at once': {
          rule: 'What was changed and saved is said to be.',
          message: '保存成功',
        },
      },
    },
    'Model mapping': {
      'src/core/options/rules.test.ts': {
        'with %s': [
          { rule: 'A virtual name is needed.', message: '请输入虚拟模型名', asserts: 'mapping.name_required' },
          { rule: 'A virtual name is given once.', message: '虚拟模型名 {name} 已存在', asserts: 'mapping.name_taken' },
          {
            rule: 'A virtual name stands for a model at least.',
            message: '至少需要配置一个实际模型',
            asserts: 'mapping.entries_required',
          },
          { rule: 'A model has a name.', message: '请输入实际模型名', asserts: 'mapping.model_required' },
          { rule: 'A model stands in a mapping once.', message: '实际模型名重复', asserts: 'mapping.model_duplicate' },
          {
            rule: 'Priorities and weights are whole numbers of at least 0.',
            message: '优先级和权重必须是不小于 0 的整数',
            asserts: 'mapping.priority_invalid',
          },
        ],
      },
      'test/trpc/options.test.ts': {
        'cannot be reloaded when the stored text is broken': {
          rule: 'A mapping that cannot be read is not loaded.',
          message: '重新加载失败',
          asserts: 'mapping.unreadable',
        },
      },
    },
    'Model prices': {
      'test/trpc/models.test.ts': {
        'lets a price per call and ratios exclude each other': 'A price per call and ratios exclude each other.',
        'takes away a further ratio that is said to be none, alone':
          'An emptied output or cache price is taken away, and the others stay.',
        'refuses buying prices that somebody else has changed since they were read': {
          rule: 'Of two who change the buying prices of a channel, the second is warned.',
          message: '该渠道的进价已被其他人修改；请核对后再次保存',
          asserts: 'prices.buying_changed_meanwhile',
        },
        'keeps all of many prices set at once': 'Many prices set at once are all kept.',
        'are named where no table prices them, even while they may be called':
          'A model without a price is named, whether it may be called or not.',
      },
      'test/relay/price-changes.test.ts': {
        'comes into force on every node at its instant by the database’s clock, and is stored once':
          'A changed price holds on every node, for whole calls.',
      },
    },
    'Hostile input': {
      'test/trpc/options.test.ts': {
        '%s does not follow %s to another address, by whichever route':
          'A secret does not follow its address to another host, by whichever route.',
      },
      'test/rest/sql-sweep.test.ts': {
        'GET %s takes whatever stands in a parameter as a value':
          'Parameters of every documented list are values, never a part of a statement.',
        'the query %s takes whatever stands in its input as a value': 'So are the inputs of every query, and headers.',
      },
      'test/rest/paging-abuse.test.ts': {
        'are answered by every documented path with a page, or refused':
          'Pages that nobody should ask for are a page, or refused.',
        'wait no longer than some seconds for a table that grows without end':
          'A question of a table that grows without end is given up after some seconds.',
      },
      'test/browser/hostile-text.test.ts': {
        'the footer, the home page, the about page and the notice are cleaned, and cover nothing':
          'Footer, home page, about page and notice are cleaned, and cover nothing.',
        'names, tags, models, log rows and the errors of upstreams are shown as they are written':
          'Names, tags, models, log rows and errors of upstreams are shown as they are written.',
      },
    },
    'Pages of the console': {
      'test/browser/screens.test.ts': {
        'can be used by everyone on $on, speak English alone, fit their window and report no error':
          'Every page of root can be used on a phone and on a desk, fits its window, speaks English alone and reports no error.',
      },
    },
    'Under load and in doubt': {
      'test/trpc/logs.test.ts': {
        'in the background is done for one of two orders placed at once, as that one says, and the other is refused': {
          rule: 'Of two orders to clear the log one is done as it says, and the other refused.',
          asserts: 'job.running',
        },
      },
      'test/trpc/channels-lists.test.ts': {
        'are held in portions: who waits for one of thousands does not keep the others': {
          rule: 'Thousands of channels are changed in portions that hold nobody else up.',
          asserts: '450',
        },
      },
      'test/trpc/channels-upstream.test.ts': {
        'is sent with the first key that is on, else with one that went off by itself, before what a person switched off':
          { rule: 'A test, a balance and a list of models use a key that is on.', asserts: 'sk-key-two' },
      },
      'test/relay/large-channel-table.test.ts': {
        'ten thousand channels of a hundred models are read, compared and changed without blocking the event loop': {
          rule: 'A call for a model that nobody has costs no walk over all channels.',
          asserts: 'isListed',
        },
      },
      'src/features/metrics/service.test.ts': {
        'a model that nobody has called for an hour gives its place to another one, with all that was counted of it':
          'Models that nobody calls any more leave the metrics.',
      },
    },
  },
}
