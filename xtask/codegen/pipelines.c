// pipelines SUFFIX FILE.spv...   Makes a compute pipeline of each module with the Vulkan device
// there is, and says what the driver's compiler made of it. One line a file on stdout: the path,
// then NAME=VALUE of every statistic, between tabs, or FAILED. The machine code goes to
// FILE.spv.SUFFIX, each representation behind a line `=== NAME`. Nothing is run. Bindings: one
// uniform buffer, then storage buffers, as every op has them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define BINDINGS 9
#define MOST 64

static void must(VkResult result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: VkResult %d\n", what, result);
        exit(1);
    }
}

static PFN_vkGetPipelineExecutableStatisticsKHR statistics;
static PFN_vkGetPipelineExecutableInternalRepresentationsKHR representations;

// The only physical device: drivers without hardware under them show one.
static VkDevice open_device(void) {
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkInstance instance;
    must(vkCreateInstance(&instance_info, NULL, &instance), "vkCreateInstance");
    uint32_t count = 1;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    must(vkEnumeratePhysicalDevices(instance, &count, &physical), "vkEnumeratePhysicalDevices");
    if (count == 0) {
        fprintf(stderr, "the driver shows no device\n");
        exit(1);
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    fprintf(stderr, "%s\n", properties.deviceName);
    // What wgpu asks for: buffers that cannot be left, as it then adds no checks of its own.
    VkPhysicalDeviceRobustness2FeaturesEXT robust = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT,
        .robustBufferAccess2 = 1};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR shown = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pNext = &robust,
        .pipelineExecutableInfo = 1};
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &shown,
        .features.robustBufferAccess = 1};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    const char *extensions[] = {"VK_KHR_pipeline_executable_properties", "VK_EXT_robustness2"};
    VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 2,
        .ppEnabledExtensionNames = extensions};
    VkDevice device;
    must(vkCreateDevice(physical, &device_info, NULL, &device), "vkCreateDevice");
    statistics = (void *)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
    representations = (void *)vkGetDeviceProcAddr(
        device, "vkGetPipelineExecutableInternalRepresentationsKHR");
    return device;
}

static VkPipelineLayout layout_of(VkDevice device) {
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType =
                i ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = BINDINGS,
        .pBindings = bindings};
    VkDescriptorSetLayout set;
    must(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set), "vkCreateDescriptorSetLayout");
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set};
    VkPipelineLayout layout;
    must(vkCreatePipelineLayout(device, &info, NULL, &layout), "vkCreatePipelineLayout");
    return layout;
}

static VkShaderModule module_of(VkDevice device, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    size_t size = ftell(file);
    rewind(file);
    uint32_t *code = malloc(size);
    if (fread(code, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule module;
    must(vkCreateShaderModule(device, &info, NULL, &module), path);
    free(code);
    return module;
}

static void print_statistics(VkDevice device, const VkPipelineExecutableInfoKHR *of) {
    static VkPipelineExecutableStatisticKHR found[MOST];
    for (int i = 0; i < MOST; i++) {
        found[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    }
    uint32_t count = MOST;
    must(statistics(device, of, &count, found), "statistics");
    for (uint32_t i = 0; i < count; i++) {
        printf("\t%s=", found[i].name);
        switch (found[i].format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
            printf("%g", found[i].value.f64);
            break;
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            printf("%lld", (long long)found[i].value.i64);
            break;
        default:
            printf("%llu", (unsigned long long)found[i].value.u64);
        }
    }
}

static void write_code(VkDevice device, const VkPipelineExecutableInfoKHR *of, FILE *out) {
    static VkPipelineExecutableInternalRepresentationKHR found[MOST];
    memset(found, 0, sizeof found);
    for (int i = 0; i < MOST; i++) {
        found[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    }
    uint32_t count = MOST;
    must(representations(device, of, &count, found), "representations");
    for (uint32_t i = 0; i < count; i++) found[i].pData = calloc(found[i].dataSize + 1, 1);
    must(representations(device, of, &count, found), "representations");
    for (uint32_t i = 0; i < count; i++) {
        if (found[i].isText) {
            fprintf(out, "=== %s\n%s\n", found[i].name, (char *)found[i].pData);
        }
        free(found[i].pData);
    }
}

int main(int argc, char **argv) {
    VkDevice device = open_device();
    VkPipelineLayout layout = layout_of(device);
    for (int a = 2; a < argc; a++) {
        printf("%s", argv[a]);
        VkShaderModule module = module_of(device, argv[a]);
        VkComputePipelineCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR
                | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = "main"},
            .layout = layout};
        VkPipeline pipeline;
        if (vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline)) {
            printf("\tFAILED\n");
            continue;
        }
        // A compute pipeline is one executable.
        VkPipelineExecutableInfoKHR of = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline};
        print_statistics(device, &of);
        printf("\n");
        fflush(stdout);
        char path[4096];
        snprintf(path, sizeof path, "%s.%s", argv[a], argv[1]);
        FILE *out = fopen(path, "w");
        if (!out) {
            perror(path);
            return 1;
        }
        write_code(device, &of, out);
        fclose(out);
        vkDestroyPipeline(device, pipeline, NULL);
        vkDestroyShaderModule(device, module, NULL);
    }
    return 0;
}
