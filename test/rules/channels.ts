import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Channels',
  sections: {
    'States of channels and keys': {
      'test/trpc/channels-lists.test.ts': {
        'moves the index along and clears why it was switched off': {
          rule: 'A channel is enabled (1), disabled by hand (2) or by itself (3); switching by hand sets 1 or 2.',
          asserts: 'status: 2',
        },
        'are edited, switched and taken apart by their tag': {
          rule: 'Enabling or disabling a tag changes every channel of it.',
          asserts: "tags.disable({ tag: 'a' })",
        },
        'takes out the key that failed, and the channel with its last one':
          'A failing key goes out by itself; the last one takes its channel along.',
      },
      'test/rest/channels.test.ts': {
        'shows why it was switched off': {
          rule: 'A channel that went off by itself says why and when.',
          asserts: 'status_reason',
        },
      },
      'test/browser/channels.test.ts': {
        'lead from an empty list to a tested, priced, changed and deleted channel': {
          rule: 'Text with commas or line breaks switches to several keys; switching back joins them with commas.',
          asserts: "toBe('sk-one,sk-two')",
        },
        'try two hundred models with progress, call it off, and keep what is known': {
          rule: 'Tests run in batches, show how far they are, and are called off at a press.',
          message: '测试被用户取消',
        },
        'retry failed tests, remove failed models, and never remove the last model': {
          rule: 'Failed models may be tried again.',
          asserts: '重试失败的 1 个',
        },
      },
      'src/core/channel-types/keys.test.ts': {
        'is one credential for service accounts, sign-ins and whatever begins with a brace': {
          rule: 'A service account is one text and never several keys.',
          asserts: 'splitKeys(41',
        },
      },
      'client/features/channels/tests/result-cache.test.ts': {
        'results are stored by channel and model for a day': {
          rule: 'Results of tests are kept for twenty-four hours.',
          asserts: '25 * hour',
        },
      },
      'client/features/channels/list/rows.test.ts': {
        'a tag shows priority and weight only where its channels agree':
          'A tag adds up what its channels used, averages their times, and shows figures only where all agree.',
      },
    },
    'Saving a channel': {
      'test/browser/channels.test.ts': {
        'lead from an empty list to a tested, priced, changed and deleted channel': [
          { rule: 'A new channel needs a name and a key.', message: '请填写渠道名称和渠道密钥！' },
          { rule: 'A channel has at least one model.', message: '请至少选择一个模型！' },
          { rule: 'A slash at the end of an address is dropped.', asserts: 'base_url: app.upstream.url' },
        ],
        'ask for the key again when an administrator changes the address of a channel': [
          {
            rule: 'An address that ends with /v1 is asked about before it is saved.',
            message: '接口地址以 /v1 结尾，仍要保存？',
          },
          {
            rule: 'Changing the address or type wants the key again, of administrators.',
            message: '修改接口地址或类型时需要重新填写密钥',
          },
        ],
        'say what is wrong with a figure, take switching off back, and choose everything that matches': [
          { rule: 'The priority is a whole number.', message: '优先级必须是整数！' },
          { rule: 'The table takes no priority below -999.', asserts: '请输入 -999 到' },
          { rule: 'The weight is a whole number of at least 0.', message: '权重必须是非负整数！' },
          { rule: 'A negative weight is sent as 0.', asserts: '{ weight: 0 }' },
        ],
      },
      'test/trpc/channels.test.ts': {
        'refuse what breaks their rules': [
          { rule: 'The server asks for name and key as the form does.', asserts: 'channel.name_and_key_required' },
          {
            rule: 'The server validates regions in the same way, for they become part of a host name.',
            asserts: 'channel.region_invalid',
          },
        ],
        'get the version their type wants where none is given': {
          rule: 'A Spark channel without a version gets v2.1.',
          asserts: 'v2.1',
        },
        'send a stored key to another host by the word of root alone: an administrator types it again':
          'Root, who may read a key, aims it elsewhere without typing it.',
        'are created with defaults, an index and keys that the database cannot give away': {
          rule: 'New channels are enabled, disable themselves, and belong to the group default.',
          asserts: 'autoBan: true',
        },
      },
      'client/features/channels/form/values.test.ts': {
        'a new channel needs name, key and a model, each said at its field': {
          rule: 'What is missing is said at its field.',
          asserts: 'channel.models_required',
        },
        'texts that must be JSON say so in the words of their field': [
          {
            rule: 'So is the extra setting.',
            message: '渠道额外设置必须是合法的 JSON 格式！',
            asserts: 'channel.setting_invalid',
          },
          {
            rule: 'So is the parameter override.',
            message: '参数覆盖必须是合法的 JSON 格式！',
            asserts: 'channel.param_override_invalid',
          },
        ],
        'a region that begins with a brace must be JSON with a default': {
          rule: 'A region that begins with a brace is JSON with a default.',
          asserts: 'channel.region_default_missing',
        },
      },
      'test/rest/channels.test.ts': {
        'refuses another address with the stored key, and broken fields, with status 200': {
          rule: 'The model mapping is the JSON of an object.',
          message: '模型映射必须是合法的 JSON格式！',
        },
      },
      'src/core/channel-types/keys.test.ts': {
        'has the parts its type wants': {
          rule: 'Keys of several parts have the parts that their type wants.',
          asserts: 'APIKey|SecretKey',
        },
      },
      'src/features/channels/rules.test.ts': {
        'has the form its type gives it': 'What a type wants beside the key has its form.',
      },
    },
    'Many channels and tests': {
      'test/trpc/channels-lists.test.ts': {
        'are tagged and removed by their numbers, with all that belongs to them': {
          rule: 'Acting on many needs a selection.',
          asserts: 'channel.selection_empty',
        },
        'are edited, switched and taken apart by their tag': [
          { rule: 'A tag is not blank.', asserts: 'channel.tag_required' },
          { rule: 'An empty new tag dissolves the tag.', asserts: "newTag: ''" },
        ],
      },
      'test/browser/channels.test.ts': {
        'retry failed tests, remove failed models, and never remove the last model': {
          rule: 'Removing the failed models is refused where no model would remain.',
          message: '没有删除：删除后渠道将没有任何模型',
        },
        'fold by tag, and change all channels of a tag at once': {
          rule: 'A tag edit that changes nothing says so.',
          message: '没有任何修改！',
        },
        'say what is wrong with a figure, take switching off back, and choose everything that matches': {
          rule: 'Everything that matches may be chosen at once.',
          asserts: '选择符合条件的全部 12 项',
        },
      },
      'test/rest/channels.test.ts': {
        'edit a tag, where blank leaves and an empty new tag dissolves': 'Blank fields of a tag edit stay as they are.',
      },
      'test/trpc/channels-upstream.test.ts': {
        'is refused for what cannot be tried and for what nobody has priced': [
          { rule: 'What has no small call is not tested.', asserts: 'channel.test_unsupported' },
          {
            rule: 'A test names the model whose price is missing, by the name that is billed.',
            asserts: 'upstream-name',
          },
        ],
      },
    },
    Messages: {
      'test/trpc/channels-upstream.test.ts': {
        'cannot be had from everywhere, and a failure does not show the key': {
          rule: 'A list of models that cannot be had.',
          message: '获取模型列表失败',
          asserts: 'channel.fetch_models_failed',
        },
        'names the address and the cause where nobody answers, without what stands in its query': {
          rule: 'A failed call names the address and the cause.',
          asserts: '(ECONNREFUSED)',
        },
      },
      'test/browser/channels.test.ts': {
        'lead from an empty list to a tested, priced, changed and deleted channel': [
          { rule: 'Fetching models without a key.', message: '请填写密钥' },
          { rule: 'A form that is submitted twice.', message: '提交失败，请勿重复提交！' },
          { rule: 'A channel that was created.', message: '渠道创建成功！' },
          { rule: 'A channel that was changed.', message: '渠道更新成功！' },
        ],
        'say what is wrong with a figure, take switching off back, and choose everything that matches': [
          { rule: 'A copy that failed.', message: '渠道复制失败' },
          { rule: 'A channel that was copied.', message: '渠道复制成功' },
        ],
        'try two hundred models with progress, call it off, and keep what is known': [
          { rule: 'Nothing to try again.', message: '没有可重试的失败模型' },
          { rule: 'A test whose request failed.', message: '测试请求失败' },
          { rule: 'A retry that was called off.', message: '重试被用户取消' },
        ],
        'fold by tag, and change all channels of a tag at once': {
          rule: 'A tag that was changed.',
          message: '标签更新成功！',
        },
      },
      'test/trpc/channels-lists.test.ts': {
        'are tagged and removed by their numbers, with all that belongs to them': {
          rule: 'A channel that is gone.',
          message: '渠道未找到，请刷新页面后重试。',
          asserts: 'channel.not_found',
        },
      },
    },
    Limits: {
      'client/features/channels/tests/run-tests.test.ts': {
        'no more models are tried at once than asked for, with a pause between batches': {
          rule: 'Two hundred milliseconds lie between batches of tests.',
          asserts: '[200, 200]',
        },
        'a failure that may pass is tried twice more, with growing pauses': {
          rule: 'A failure that may pass is tried twice more.',
          asserts: 'retryCount: 2',
        },
        'the pause never grows beyond five seconds': {
          rule: 'Pauses between attempts double from one second to five.',
          asserts: '[1000, 2000, 4000, 5000, 5000]',
        },
      },
      'client/features/channels/list/response-step.test.ts': {
        'a channel is quick up to one second, then slower at three and five': {
          rule: 'Response times are distinguished at one, three and five seconds.',
          asserts: '[0, 0, 1, 1, 2, 2, 3]',
        },
      },
      'test/trpc/channels-lists.test.ts': {
        'are filtered, ordered, folded and paged within fifty milliseconds each':
          'Each filter of ten thousand channels is answered within fifty milliseconds.',
        'narrows by every filter, and treats wildcards of the database as letters': {
          rule: 'A search treats wildcards of the database as letters.',
          asserts: "keyword: '%%%%'",
        },
      },
      'test/browser/channels.test.ts': {
        'find some of ten thousand channels within a fifth of a second':
          'The table shows what a filter found within two hundred.',
      },
    },
    'Keys and addresses under attack': {
      'test/trpc/channels.test.ts': {
        'show their key to root alone, and to nobody in lists': 'Keys are shown to root alone, and to nobody in lists.',
        'may be private, and keep JSON that tries to reach object prototypes as harmless text': {
          rule: 'JSON that reaches for prototypes stays text.',
          asserts: '__proto__',
        },
      },
      'relay/transport/address.test.ts': {
        'of clouds’ metadata are recognised in every spelling': {
          rule: 'Link-local and metadata addresses are refused in every spelling.',
          asserts: '0x',
        },
      },
      'test/upstream/transport.test.ts': {
        'is anything to a name that resolves there, checked when connecting':
          'A name that resolves to one is refused where the connection is made.',
      },
      'test/trpc/channels-upstream.test.ts': {
        'is not looked for where a redirect leads, with the key in hand': {
          rule: 'Redirects are not followed with a key in hand.',
          asserts: 'status: 302',
        },
        'is fetched for a form with the stored key, wherever root says and nowhere else for others': {
          rule: 'Fetching models for a form sends a stored key nowhere else, root aside.',
          asserts: 'channel.key_needed_for_address',
        },
        'shows why it failed without the key, whatever the upstream quotes, and logs nothing': {
          rule: 'An upstream that quotes the key back does not show it.',
          asserts: '***',
        },
      },
      'src/core/param-override.test.ts': {
        'names what an override may not have':
          'An override may not have the model, the stream or the number of answers.',
      },
      'test/relay/next-call.test.ts': {
        'with a key that a call found invalid, before that call is answered':
          'What is changed on one node holds for the next call on another.',
      },
    },
  },
}
