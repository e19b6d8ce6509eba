import { expect, test } from 'vitest';
import { callsFor } from './offline-fixtures.js';

// RUN-11, over the words of the instruction
test.each([
  ["What's the weather in Rome?", ['get_forecast {"city":"Rome"}']],
  ["What's the weather in Rome? Use your tools.", ['get_forecast {"city":"Rome"}']],
  ["what's the weather like in rome tomorrow", ['get_forecast {"city":"rome"}']],
  ['In Rio de Janeiro, how is the weather?', ['get_forecast {"city":"Rio de Janeiro"}']],
  ['Weather forecast for New York City please', ['get_forecast {"city":"New York City"}']],
  ['I am in Rome. What is the weather?', ['get_forecast {"city":"Rome"}']],
  ['Call get_forecast with city: rome', ['get_forecast {"city":"rome"}']],
  ["What's the weather in Rome? And what time is it?", ['get_forecast {"city":"Rome"}', 'current_time {}']],
  [
    'Tell me the weather and the time in Rome',
    ['get_forecast {"city":"Rome"}', 'current_time {"timeZone":"Europe/Rome"}'],
  ],
  ['What time is it in America/New_York?', ['current_time {"timeZone":"America/New_York"}']],
  ['What time is it?', ['current_time {}']],
  ['Add 3 and 4.5', ['addNumbers {"a":3,"b":4.5}']],
  ['Add -1,000 to 7', ['addNumbers {"a":-1000,"b":7}']],
  ['Search the files for "open tabs", limit 5', ['search_files {"query":"open tabs","limit":5}']],
  [
    'Search files for red shoes without hidden ones',
    ['search_files {"query":"red shoes","includeHidden":false}'],
  ],
  [
    'Search hidden files about budgets, 10 at most',
    ['search_files {"query":"budgets","includeHidden":true}'],
  ],
  ['Translate hello to French', ['translate {"text":"hello","language":"French"}']],
  ["Translate 'good morning' into Italian", ['translate {"text":"good morning","language":"Italian"}']],
  [
    'Set the thermostat in the kitchen to 21.5 degrees celsius',
    ['set_thermostat {"room":"kitchen","degrees":21.5,"unit":"celsius"}'],
  ],
  [
    'Send an email to ada@example.org with subject "Lunch"',
    ['send_email {"to":"ada@example.org","subject":"Lunch"}'],
  ],
  ['Which events are on 2026-12-24?', ['list_events {"date":"2026-12-24"}']],
  ['Show the events of tomorrow', ['list_events {"date":"2026-10-06"}']],
  ['Book a train from Rome to Paris', ['book_train {"from":"Rome","to":"Paris"}']],
  ['Sum up 1, 2 and 3.5', ['sum_list {"values":[1,2,3.5]}']],
  ['Read the file src/main.ts', ['read_file {"path":"src/main.ts"}']],
  ['echo hello big world', ['echo {"message":"hello big world"}']],
])('%s', async (instruction, calls) => {
  expect(await callsFor(instruction)).toEqual(calls);
});
