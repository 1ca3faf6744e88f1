import { createRequire } from 'node:module';

import type * as validator from 'class-validator';

type ClassValidator = typeof validator;

/**
 * Loads one file of class-validator. The package's index would load 300 more modules, among them the telephone numbers of
 * all countries; only the index has type declarations.
 */
const load = createRequire(import.meta.url) as (file: `class-validator/cjs/${string}.js`) => ClassValidator;

export const { ArrayMaxSize } = load('class-validator/cjs/decorator/array/ArrayMaxSize.js');
export const { ArrayMinSize } = load('class-validator/cjs/decorator/array/ArrayMinSize.js');
export const { IsIn } = load('class-validator/cjs/decorator/common/IsIn.js');
export const { IsOptional } = load('class-validator/cjs/decorator/common/IsOptional.js');
export const { ValidateBy } = load('class-validator/cjs/decorator/common/ValidateBy.js');
export const { ValidateIf } = load('class-validator/cjs/decorator/common/ValidateIf.js');
export const { ValidateNested } = load('class-validator/cjs/decorator/common/ValidateNested.js');
export const { Max } = load('class-validator/cjs/decorator/number/Max.js');
export const { Min } = load('class-validator/cjs/decorator/number/Min.js');
export const { MaxLength, maxLength } = load('class-validator/cjs/decorator/string/MaxLength.js');
export const { MinLength } = load('class-validator/cjs/decorator/string/MinLength.js');
export const { IsArray } = load('class-validator/cjs/decorator/typechecker/IsArray.js');
export const { IsBoolean } = load('class-validator/cjs/decorator/typechecker/IsBoolean.js');
export const { IsInt } = load('class-validator/cjs/decorator/typechecker/IsInt.js');
export const { IsNumber } = load('class-validator/cjs/decorator/typechecker/IsNumber.js');
export const { IsObject } = load('class-validator/cjs/decorator/typechecker/IsObject.js');
export const { IsString } = load('class-validator/cjs/decorator/typechecker/IsString.js');
export const { getMetadataStorage } = load('class-validator/cjs/metadata/MetadataStorage.js');
export const { Validator } = load('class-validator/cjs/validation/Validator.js');
